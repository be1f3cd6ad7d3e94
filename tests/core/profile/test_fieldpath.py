"""Field paths: what they read, and what is none."""

from __future__ import annotations

import pytest

from rop_otel.core.profile.fieldpath import ABSENT, FieldPath


@pytest.mark.parametrize(
    ("path", "record", "found"),
    [
        ("a", {"a": 1}, 1),
        ("a", {"a": None}, None),
        ("a", {}, ABSENT),
        ("a", [1], ABSENT),
        ("a.b", {"a": {"b": "x"}}, "x"),
        ("a.b", {"a": ["x"]}, ABSENT),
        ("ids[]", {"ids": ["x"]}, ["x"]),
        ("ids[]", {"ids": "x"}, "x"),
        ("r[].id", {"r": [{"id": "x"}, {}, {"id": None}, 3, {"id": "y"}]}, ["x", None, None, None, "y"]),
        ("r[].id", {"r": {"id": "x"}}, ABSENT),
        ("r[].id", {"r": []}, []),
        ("a.r[].m.id", {"a": {"r": [{"m": {"id": "x"}}, {"m": 1}]}}, ["x", None]),
        ("a b.ü", {"a b": {"ü": "x"}}, "x"),
    ],
)
def test_a_path_reads(path: str, record: object, found: object) -> None:
    """Mapping keeps a bad item in its place; null is a value, nothing is absent."""
    assert FieldPath.parse(path).read(record) == found


@pytest.mark.parametrize(
    "path", ["", ".", "a.", ".a", "a..b", "[]", "a[0]", "a[", "]a", "a[]b", "a[].b[]", "a[][]", "a.[]"]
)
def test_a_malformed_path_is_refused(path: str) -> None:
    """An empty name, a stray bracket and a second list are no path."""
    with pytest.raises(ValueError, match=r"path|maps"):
        FieldPath.parse(path)
