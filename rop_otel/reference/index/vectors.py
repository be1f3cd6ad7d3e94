"""Passage vectors: one each for exact search in faiss, and one per token for late interaction."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rop_otel.reference.libraries import load_library

_VECTORS, _TOKENS, _SCALES, _OFFSETS = "vectors.npy", "tokens.npy", "scales.npy", "offsets.npy"


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorStore:
    """Vectors in memory-mapped files.

    Token vectors are kept as int8 with one scale per token, a quarter of their size for a rounding error below a
    hundredth of a similarity.

    Args:
        vectors: passages × dimensions, float32, unit length.
        tokens: tokens × dimensions, int8.
        scales: What one step of each token's int8 is worth.
        offsets: First token of each passage, and the end.
    """

    vectors: NDArray[np.float32]
    tokens: NDArray[np.int8]
    scales: NDArray[np.float32]
    offsets: NDArray[np.int64]

    @classmethod
    def create(cls, folder: Path, lengths: Sequence[int], *, dimensions: int) -> VectorStore:
        """Make empty files for passages of these token counts.

        Raises:
            OSError: There is no room for them.
        """
        offsets = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]).astype(np.int64)
        np.save(folder / _OFFSETS, offsets)
        total = int(offsets[-1])
        return cls(
            vectors=_mapped(folder / _VECTORS, np.float32, (len(lengths), dimensions)),
            tokens=_mapped(folder / _TOKENS, np.int8, (total, dimensions)),
            scales=_mapped(folder / _SCALES, np.float32, (total,)),
            offsets=offsets,
        )

    @classmethod
    def open(cls, folder: Path) -> VectorStore:
        """Map finished files."""
        return cls(
            vectors=np.load(folder / _VECTORS),
            tokens=np.load(folder / _TOKENS, mmap_mode="r"),
            scales=np.load(folder / _SCALES),
            offsets=np.load(folder / _OFFSETS),
        )

    def put(self, place: int, vector: NDArray[np.float32], tokens: NDArray[np.float32]) -> None:
        """Keep the vectors of one passage."""
        start, stop = self._span(place)
        scales = np.abs(tokens).max(axis=1) / 127
        self.vectors[place] = vector
        self.scales[start:stop] = scales
        self.tokens[start:stop] = np.rint(tokens / np.maximum(scales, 1e-12)[:, None]).astype(np.int8)

    def flush(self) -> None:
        """Write everything out."""
        for array in (self.vectors, self.tokens, self.scales):
            if isinstance(array, np.memmap):
                array.flush()

    def max_similarities(self, query: NDArray[np.float32], places: Sequence[int]) -> list[float]:
        """Return the late-interaction score of passages: the mean, over query tokens, of the best matching token.

        Args:
            query: tokens × dimensions, unit length.
            places: Passages, at least one.
        """
        spans = [self._span(place) for place in places]
        tokens = np.concatenate([self.tokens[start:stop] for start, stop in spans]).astype(np.float32)
        scales = np.concatenate([self.scales[start:stop] for start, stop in spans])
        similarities = (tokens @ query.T) * scales[:, None]
        starts = np.cumsum([0, *(stop - start for start, stop in spans[:-1])])
        best = np.maximum.reduceat(similarities, starts, axis=0)
        return [float(score) for score in best.mean(axis=1)]

    def best_matches(self, query: NDArray[np.float32], *, pages: int) -> Iterator[NDArray[np.float32]]:
        """Yield, for so many passages at a time in order, how well the best token of each matches each query token.

        Args:
            query: dimensions × query tokens, unit length.
            pages: Passages whose token vectors are in memory as floats at a time.

        Yields:
            passages × query tokens.
        """
        for first in range(0, len(self.vectors), pages):
            offsets = self.offsets[first : first + pages + 1]
            start, stop = int(offsets[0]), int(offsets[-1])
            tokens = self.tokens[start:stop].astype(np.float32)
            tokens *= self.scales[start:stop, None]
            similarities = tokens @ query
            best = np.empty((len(offsets) - 1, query.shape[1]), dtype=np.float32)
            for page, (low, high) in enumerate(pairwise(offsets - start)):  # quicker than np.maximum.reduceat
                similarities[low:high].max(axis=0, out=best[page])
            yield best

    def _span(self, place: int) -> tuple[int, int]:
        return int(self.offsets[place]), int(self.offsets[place + 1])


def _mapped(file: Path, dtype: type[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    """Map a new file with its room reserved: a write into a map that the disk has no room for kills the process."""
    array: NDArray[Any] = np.lib.format.open_memmap(file, mode="w+", dtype=dtype, shape=shape)
    if hasattr(os, "posix_fallocate"):  # not on macOS and Windows
        with file.open("r+b") as stream:
            os.posix_fallocate(stream.fileno(), 0, max(file.stat().st_size, 1))
    return array


class VectorIndex:
    """Exact inner-product search in faiss, on a GPU where the library reports one.

    Args:
        vectors: passages × dimensions, float32.
    """

    def __init__(self, vectors: NDArray[np.float32]) -> None:
        faiss = load_library("faiss")
        gpus = faiss.get_num_gpus() if hasattr(faiss, "get_num_gpus") else 0
        index: Any = faiss.IndexFlatIP(vectors.shape[1])
        if gpus:
            index = faiss.index_cpu_to_all_gpus(index)
        index.add(np.ascontiguousarray(vectors))
        self._index = index
        self._size = len(vectors)
        self.implementation = f"faiss IndexFlatIP ({f'{gpus} GPU' if gpus else 'CPU'})"

    def search(self, query: NDArray[np.float32], k: int) -> list[tuple[int, float]]:
        """Return the places of the k nearest passages with their similarities, best first, ties by place."""
        scores, places = self._index.search(query[None, :], min(k, self._size))
        found = [(int(place), float(score)) for place, score in zip(places[0], scores[0], strict=True) if place >= 0]
        return sorted(found, key=lambda hit: (-hit[1], hit[0]))
