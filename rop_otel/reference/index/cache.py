"""Vectors kept between runs, under the user's cache directory."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from rop_otel.errors import PipelineError
from rop_otel.reference.encoder import Encoder
from rop_otel.reference.index.vectors import VectorStore

Progress = Callable[[int, int], None]
"""Called with passages done and passages in all."""

_FORMAT = "1"
_ADVICE = "name a folder in XDG_CACHE_HOME"


def cache_folder() -> Path:
    """Return the folder for cached vectors: ``$XDG_CACHE_HOME/rop-otel``, else ``~/.cache/rop-otel``.

    Raises:
        PipelineError: There is neither.
    """
    base = os.environ.get("XDG_CACHE_HOME", "")
    try:
        return (Path(base) if base else Path.home() / ".cache") / "rop-otel"
    except RuntimeError as error:
        raise PipelineError(f"no folder to keep vectors in: this user has no home directory; {_ADVICE}") from error


def cached_vectors(
    encoder: Encoder, texts: Sequence[str], *, folder: Path | None = None, progress: Progress | None = None
) -> VectorStore:
    """Return the vectors of passages, computed only where the cache does not hold them.

    Args:
        encoder: What computes them.
        texts: Passages.
        folder: Cache folder; the user's by default.
        progress: Called with the passages encoded so far and in all; not called if the cache holds them.

    Raises:
        PipelineError: The folder cannot be written, or is full.
    """
    home = (folder or cache_folder()) / _key(encoder, texts)
    try:
        return _kept(encoder, texts, home, progress or _silent)
    except OSError as error:
        reason = error.strerror or error
        raise PipelineError(f"vectors cannot be kept under {str(home.parent)!r} ({reason}); {_ADVICE}") from error


def _kept(encoder: Encoder, texts: Sequence[str], home: Path, progress: Progress) -> VectorStore:
    if home.is_dir():
        try:
            return VectorStore.open(home)
        except (OSError, ValueError, EOFError):
            shutil.rmtree(home)  # damaged: compute it anew
    home.parent.mkdir(parents=True, exist_ok=True)
    staging = Path(tempfile.mkdtemp(prefix=".building-", dir=home.parent))
    try:
        _compute(encoder, texts, staging, progress)
        _publish(staging, home)
    finally:
        shutil.rmtree(staging, ignore_errors=True)
    return VectorStore.open(home)


def _key(encoder: Encoder, texts: Sequence[str]) -> str:
    files = encoder.files
    settings = (_FORMAT, encoder.sha256, files.pooling, files.passage_prefix, files.max_pieces)
    digest = hashlib.sha256(repr(settings).encode())
    for text in texts:
        digest.update(len(text).to_bytes(4, "big") + text.encode("utf-8", "surrogatepass"))
    return digest.hexdigest()[:32]


def _compute(encoder: Encoder, texts: Sequence[str], folder: Path, progress: Progress) -> None:
    encodings = encoder.tokenize_passages(texts)
    store = VectorStore.create(folder, [len(encoding.ids) for encoding in encodings], dimensions=encoder.dimensions)
    for done, encoded in enumerate(encoder.encode_passages(encodings), 1):
        store.put(encoded.place, encoded.vector, encoded.tokens)
        progress(done, len(texts))
    store.flush()


def _publish(staging: Path, home: Path) -> None:
    """Move a finished folder into place; if another process was quicker, its folder stays."""
    try:
        staging.rename(home)
    except OSError:
        if not home.is_dir():
            raise


def _silent(done: int, total: int) -> None:
    """Report nothing."""
