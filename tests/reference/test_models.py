from __future__ import annotations

import errno
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from rop_otel.errors import PipelineError
from rop_otel.reference.encoder import Encoder
from rop_otel.reference.index.cache import cached_vectors
from rop_otel.reference.index.vectors import VectorIndex, VectorStore
from rop_otel.reference.libraries import load_library, require_libraries, rival_distributions
from rop_otel.reference.models import default_encoder, model_in
from rop_otel.reference.session import Session


def test_a_missing_library_is_one_sentence_with_the_remedy() -> None:
    """Without the extra, the user learns which one to install."""
    for ask in (lambda: require_libraries(("no_such_library",)), lambda: load_library("no_such_library")):
        with pytest.raises(PipelineError, match=r"needs no_such_library: install the extra cpu of rop-otel"):
            ask()


def test_distributions_that_overwrite_each_other_are_named() -> None:
    """With the CPU's and the GPU's libraries side by side, the user learns that one of them is gone."""
    (sentence,) = rival_distributions(["faiss-cpu", "onnxruntime", "onnxruntime-gpu", "numpy"])
    assert sentence.startswith("onnxruntime and onnxruntime-gpu are both installed")
    assert not rival_distributions(["faiss-gpu", "onnxruntime-gpu"])


@pytest.mark.parametrize("which", ["model", "tokenizer"])
def test_a_changed_file_is_refused(tmp_path: Path, which: str) -> None:
    """A model or tokenizer that is not the pinned one is an error that says so."""
    files = default_encoder()
    changed = tmp_path / "changed"
    if which == "model":
        changed.write_bytes(files.model.read_bytes() + b" ")
        files = replace(files, model=changed)
    else:
        changed.write_bytes(files.tokenizer.read_bytes() + b" ")
        files = replace(files, tokenizer=changed)
    with pytest.raises(PipelineError, match="is not the pinned file: SHA-256 is"):
        Session(files)


def test_a_file_that_is_no_model_is_one_error(tmp_path: Path) -> None:
    """Anything but ONNX beside a tokenizer is named with its path."""
    (tmp_path / "model.onnx").write_bytes(b"nonsense")
    (tmp_path / "tokenizer.json").write_bytes(default_encoder().tokenizer.read_bytes())
    with pytest.raises(PipelineError, match=r"cannot be loaded from .*model\.onnx"):
        Session(model_in(tmp_path))
    with pytest.raises(PipelineError, match="holds no ONNX file"):
        model_in(tmp_path / "none")


def test_any_encoder_can_be_named_by_its_folder(tmp_path: Path, encoder: Encoder) -> None:
    """A folder with an ONNX file and its tokenizer is an encoder; what runs it stands in its name."""
    files = default_encoder()
    (tmp_path / "encoder.onnx").symlink_to(files.model)
    (tmp_path / "tokenizer.json").symlink_to(files.tokenizer)
    named = Encoder(replace(model_in(tmp_path, name="mine"), pooling="cls", query_prefix="query: "))
    assert named.implementation.startswith("mine (")
    assert named.dimensions == encoder.dimensions
    plain, prefixed = encoder.encode_query("a").tokens, named.encode_query("a").tokens
    assert len(prefixed) == len(plain) + 2
    assert not np.allclose(named.encode_query("a").vector, encoder.encode_query("query: a").vector)


def test_batches_do_not_change_vectors(encoder: Encoder) -> None:
    """A passage's vector is the same whatever stands beside it in its batch."""
    texts = ["one", "two words", "a somewhat longer text about queues and locks"]
    together = {one.place: one for one in encoder.encode_passages(encoder.tokenize_passages(texts))}
    for place, text in enumerate(texts):
        (alone,) = encoder.encode_passages(encoder.tokenize_passages([text]))
        np.testing.assert_allclose(together[place].vector, alone.vector, atol=1e-5)
        assert together[place].tokens.shape == alone.tokens.shape


def test_tokens_are_counted_in_full_without_special_ones(encoder: Encoder) -> None:
    """The budget counts what a text has, also beyond the encoder's limit."""
    assert encoder.count_tokens("hello") == 1
    assert encoder.count_tokens("hello " * 1000) == 1000
    assert encoder.count_tokens("") == 0


def test_vectors_are_computed_once(encoder: Encoder, tmp_path: Path) -> None:
    """The second time they come from the cache; other texts have vectors of their own."""
    told: list[tuple[int, int]] = []

    def progress(done: int, total: int) -> None:
        told.append((done, total))

    first = cached_vectors(encoder, ["a", "b c"], folder=tmp_path, progress=progress)
    assert told == [(1, 2), (2, 2)]
    second = cached_vectors(encoder, ["a", "b c"], folder=tmp_path, progress=progress)
    assert len(told) == 2
    np.testing.assert_array_equal(first.vectors, second.vectors)
    cached_vectors(encoder, ["a", "b d"], folder=tmp_path, progress=progress)
    assert len(told) == 4
    assert not list(tmp_path.glob(".building-*"))


@pytest.mark.parametrize(
    "changed",
    [{"pooling": "cls"}, {"passage_prefix": "passage: "}, {"max_pieces": 8}],
    ids=lambda changed: next(iter(changed)),
)
def test_vectors_are_kept_apart_by_how_the_model_is_used(
    encoder: Encoder, tmp_path: Path, changed: dict[str, Any]
) -> None:
    """Another pooling, prefix or length gives vectors of its own, and none that were kept for the other."""
    texts = ["a text of more than eight pieces about queues and locks"]
    first = cached_vectors(encoder, texts, folder=tmp_path)
    other = cached_vectors(Encoder(replace(encoder.files, **changed)), texts, folder=tmp_path)
    assert not np.allclose(first.vectors, other.vectors, atol=1e-3)


def test_input_longer_than_the_model_reads_is_one_error() -> None:
    """A length that the model does not have is named with the model, not a runtime's traceback."""
    session = Session(replace(default_encoder(), max_pieces=600))
    with pytest.raises(PipelineError, match="'all-MiniLM-L6-v2 int8' cannot run 600 pieces of input"):
        session.run(session.tokenize(["word " * 1000]))


def test_a_damaged_cache_is_computed_anew(encoder: Encoder, tmp_path: Path) -> None:
    """Vectors that cannot be read again are no reason to fail."""
    first = cached_vectors(encoder, ["a"], folder=tmp_path)
    (kept,) = tmp_path.iterdir()
    (kept / "vectors.npy").write_bytes(b"")
    np.testing.assert_array_equal(cached_vectors(encoder, ["a"], folder=tmp_path).vectors, first.vectors)


def test_late_interaction_is_the_mean_of_best_matches(tmp_path: Path) -> None:
    """Kept as int8, token vectors give the same score to a hundredth."""
    random = np.random.default_rng(7)
    passages = [_unit(random.normal(size=(length, 16))) for length in (3, 1, 5)]
    query = _unit(random.normal(size=(4, 16)))
    store = VectorStore.create(tmp_path, [len(tokens) for tokens in passages], dimensions=16)
    for place, tokens in enumerate(passages):
        store.put(place, tokens[0], tokens)
    expected = [float((tokens @ query.T).max(axis=0).mean()) for tokens in (passages[2], passages[0], passages[1])]
    assert store.max_similarities(query, [2, 0, 1]) == pytest.approx(expected, abs=0.01)


def test_nearest_passages_come_in_order_with_ties_by_place() -> None:
    """Search is exact, and equal passages keep their order."""
    vectors = np.array([[0, 1], [1, 0], [1, 0], [0.6, 0.8]], dtype=np.float32)
    found = VectorIndex(vectors).search(np.array([1, 0], dtype=np.float32), 9)
    assert [place for place, _ in found] == [1, 2, 3, 0]
    assert [score for _, score in found] == pytest.approx([1, 1, 0.6, 0])


def _unit(vectors: NDArray[np.float64]) -> NDArray[np.float32]:
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), dtype=np.float32)


def test_vectors_that_cannot_be_kept_are_refused(
    encoder: Encoder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder that cannot be written, a full disk and a user without a home are named, with what to do."""
    (tmp_path / "file").touch()
    with pytest.raises(PipelineError, match=r"file.*File exists.*XDG_CACHE_HOME"):
        cached_vectors(encoder, ["a"], folder=tmp_path / "file")

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full, raising=False)
    with pytest.raises(PipelineError, match=r"No space left on device.*XDG_CACHE_HOME"):
        cached_vectors(encoder, ["a"], folder=tmp_path / "full")
    assert list((tmp_path / "full").iterdir()) == []

    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", lambda: Path("~nobody-at-all").expanduser())
    with pytest.raises(PipelineError, match=r"no home directory.*XDG_CACHE_HOME"):
        cached_vectors(encoder, ["a"])
