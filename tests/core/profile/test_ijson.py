"""I-JSON: what every reader sees alike, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from rop_otel.core.profile.ijson import IJsonError, loads


@pytest.mark.parametrize(
    ("data", "value"),
    [
        (b'{"a": [1, 2.5, true, null, "x"]}', {"a": [1, 2.5, True, None, "x"]}),
        (b' \n"caf\xc3\xa9" ', "caf\u00e9"),
        (b'"\\ud83d\\ude00"', "\U0001f600"),
        (b'{"a": {"b": 1}, "b": {"a": 1}}', {"a": {"b": 1}, "b": {"a": 1}}),
        (b'"\\\\ud800"', "\\ud800"),
        (b'"a\\u0000b"', "a\0b"),
        (b"9007199254740993", 9007199254740993),
        (b"9" * 5000, float("inf")),
        (b'{"a": {"b": ' + b"9" * 5000 + b"}}", {"a": {"b": float("inf")}}),
    ],
)
def test_read(data: bytes, value: Any) -> None:
    """Plain JSON is read as it is."""
    assert loads(data) == value


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "line 1, column 1"),
        (b'{"a": 1,}', "invalid JSON"),
        (b'{"a": 1}\n{"b": 2}', "line 2, column 1"),
        (b"{'a': 1}", "invalid JSON"),
        (b'"a\nb"', "invalid JSON"),
        (b'"abc', "invalid JSON"),
        (b'"ab\xffc"', "invalid UTF-8 at byte 3"),
        (b'"\xed\xa0\x80"', "invalid UTF-8 at byte 1"),
        (b"\xff\xfe1\x00", "invalid UTF-8 at byte 0"),
        (b"\xef\xbb\xbf{}", "byte order mark"),
        (b'{"b": 2, "a": 1, "a": 1}', "duplicate key 'a'"),
        (b'[{"a": {"x": 1, "\\u0078": 2}}]', "duplicate key 'x'"),
        (b'[{"a": ' + b"9" * 5000 + b', "a": 1}]', "duplicate key 'a'"),
        (b"[NaN]", "NaN is no JSON number"),
        (b"[" + b"9" * 5000 + b", NaN]", "NaN is no JSON number"),
        (b"[Infinity]", "Infinity"),
        (b"-Infinity", "-Infinity"),
        (b'"\\ud800"', "lone surrogate in '\\ud800'"),
        (b'{"\\udc00": 1}', "lone surrogate"),
        (b'"\\udfff"', "lone surrogate"),
        (b'[[{"a": ["x\\ude00\\ud83d"]}]]', "lone surrogate"),
        (b"[" * 200_000, "nested too deeply"),
    ],
)
def test_refused(data: bytes, says: str) -> None:
    """Whatever two readers might see differently is refused, and the message says what and where."""
    with pytest.raises(IJsonError) as caught:
        loads(data)
    assert says in str(caught.value)
