"""One ONNX model on onnxruntime, with its tokenizer."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rop_otel.errors import PipelineError
from rop_otel.reference.libraries import load_library
from rop_otel.reference.models import ModelFiles, verified_bytes

_PREFERRED = ("CUDAExecutionProvider", "ROCMExecutionProvider", "CoreMLExecutionProvider", "CPUExecutionProvider")
"""Of the providers that onnxruntime reports, the first of these is taken; the others stay as its own fallbacks."""


class Session:
    """Runs texts, or pairs of texts, through one model.

    Args:
        files: The model; hashes are checked.

    Raises:
        PipelineError: A file is missing, is not the pinned one, or is no such model.
    """

    def __init__(self, files: ModelFiles) -> None:
        runtime = load_library("onnxruntime")
        model = verified_bytes(files.model, files.model_sha256)
        tokenizer = verified_bytes(files.tokenizer, files.tokenizer_sha256)
        reported = runtime.get_available_providers()
        providers = [name for name in _PREFERRED if name in reported] or list(reported)
        try:
            self._tokenizer = load_library("tokenizers").Tokenizer.from_buffer(tokenizer)
            self._counter = load_library("tokenizers").Tokenizer.from_buffer(tokenizer)
            self._session = runtime.InferenceSession(model, _quiet(runtime), providers=providers)
        except Exception as error:
            raise PipelineError(f"{files.name!r} cannot be loaded from {str(files.model)!r}: {error}") from error
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(files.max_pieces)
        self._counter.no_padding()
        self._counter.no_truncation()
        self._inputs = {value.name for value in self._session.get_inputs()}
        self.files = files
        self.sha256 = hashlib.sha256(model + tokenizer).hexdigest()
        self.implementation = f"{files.name} ({self._session.get_providers()[0]})"

    def tokenize(self, texts: Sequence[Any]) -> list[Any]:
        """Return the encodings of texts, or of pairs of texts, cut to the model's length and unpadded."""
        return list(self._tokenizer.encode_batch(list(texts)))

    def count(self, text: str) -> int:
        """Return how many pieces a text has in full, special ones not counted."""
        return len(self._counter.encode(text, add_special_tokens=False).ids)

    def run(self, encodings: Sequence[Any]) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """Run one batch.

        Returns:
            The model's first output as float32, batch first, and the attention mask (batch × pieces).

        Raises:
            PipelineError: The model refuses the input, as where it is longer than the model can read.
        """
        width = max(len(encoding.ids) for encoding in encodings)
        shape = (len(encodings), width)
        ids, mask, types = (np.zeros(shape, dtype=np.int64) for _ in range(3))
        for row, encoding in enumerate(encodings):
            length = len(encoding.ids)
            ids[row, :length] = encoding.ids
            mask[row, :length] = 1
            types[row, :length] = encoding.type_ids
        feeds = {"input_ids": ids, "attention_mask": mask, "token_type_ids": types}
        try:
            outputs = self._session.run(None, {name: value for name, value in feeds.items() if name in self._inputs})
        except Exception as error:
            raise PipelineError(f"{self.files.name!r} cannot run {width} pieces of input: {error}") from error
        return np.asarray(outputs[0], dtype=np.float32), mask


def _quiet(runtime: Any) -> Any:
    options = runtime.SessionOptions()
    options.log_severity_level = 3
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return options
