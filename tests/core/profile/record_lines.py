"""Record lines that Hypothesis makes up: mostly plain, and everything that a line can get wrong."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

KEYS = ("obj-a", "/wiki/A", "a#0", "obj-b", "b#0", "obj-c", "é#0", "an object with a long name", "nobody", "")
LONG = ("a long member, chunk 0017", "a long nember, chunk 0017", "a long oember, chunk 0017")
RETURNED = ("a#0", "a#1", "b#0", "/wiki/B", "c#0", "c#1", "c#2", "obj-é", "nobody", "", "x\ny", 'q"', "\\", *LONG)
RECORD_IDS = ("r1", "r2", "r3", "r4", "é", "")
PLAIN_IDS = ("r1", "r2", "r3", "r4")

_odd = st.sampled_from([None, True, 0, 1.5, "", {}, [], [1], {"a": "obj-a", "b": "r1", "c": ["a#0"]}, "é", 10**400])
_ids = st.lists(st.sampled_from(RETURNED), max_size=6)
_bad_ids = st.lists(st.sampled_from(RETURNED) | _odd, max_size=6) | _odd
_gold = st.sampled_from(KEYS[:-2]) | st.lists(st.sampled_from(KEYS[:-2]), max_size=3)
_selection = st.sampled_from(KEYS) | st.lists(st.sampled_from(KEYS), max_size=3) | _odd


@st.composite
def records(draw: st.DrawFn) -> dict[str, Any]:
    """Return a record: plain, or with anything at all in the fields that are read."""
    if draw(st.booleans()):
        record: dict[str, Any] = {
            "record_id": draw(st.sampled_from(PLAIN_IDS)),
            "selected": draw(st.sampled_from(KEYS[:-2])),
            "ids": draw(_ids),
        }
        if draw(st.booleans()):
            record["gold"] = draw(_gold)
    else:
        record = {
            "record_id": draw(st.sampled_from(RECORD_IDS) | _odd),
            "selected": draw(_selection),
            "gold": draw(_gold | _odd | st.lists(_odd, max_size=2)),
            "ids": draw(_bad_ids),
        }
        for name in draw(st.sets(st.sampled_from(sorted(record)))):
            del record[name]
    gold = record.get("gold")
    record["golds"] = [{"id": each} for each in gold] if isinstance(gold, list) else gold
    ids = record.get("ids")
    record["hits"] = [{"id": each, "score": 1} for each in ids] if isinstance(ids, list) else ids
    if draw(st.booleans()):
        record["more"] = draw(_odd)
    return record


@st.composite
def lines(draw: st.DrawFn) -> bytes:
    """Return a line without its LF."""
    record = draw(records())
    text = json.dumps(record, ensure_ascii=draw(st.booleans()), separators=draw(st.sampled_from([None, (",", ":")])))
    line = text.encode()
    spoil = draw(st.sampled_from(SPOILS)) if draw(st.integers(0, 3)) == 0 else None
    return line if spoil is None else spoil(line)


SPOILS = (
    lambda line: b"",
    lambda line: b"  \t",
    lambda line: line + b"\r",
    lambda line: b"\xef\xbb\xbf" + line,
    lambda line: line[: len(line) // 2],
    lambda line: line + line,
    lambda line: line + b" " + line,
    lambda line: b"[" + line + b"]",
    lambda line: line[:-1] + b',"x":NaN}',
    lambda line: line[:-1] + b',"x":-Infinity}',
    lambda line: line[:-1] + b',"x":1e999}',
    lambda line: line[:-1] + b',"x":' + b"9" * 5000 + b"}",
    lambda line: line[:-1] + b',"x":01}',
    lambda line: line[:-1] + b',"x":"\\ud800"}',
    lambda line: line[:-1] + b',"\\udc00":1}',
    lambda line: line[:-1] + b',"x":"\xff"}',
    lambda line: line[:-1] + b',"x":"\xed\xa0\x80"}',
    lambda line: line[:-1] + b',"x":"\x01"}',
    lambda line: line[:-1] + b',"x":"\x00"}',
    lambda line: line[:-1] + b',"x":"\\q"}',
    lambda line: line[:-1] + b',"record_id":"r2"}',
    lambda line: line[:-1] + b',"record\\u005fid":"r3"}',
    lambda line: line[:-1] + b',"selected":["obj-a"],"selected":"obj-b"}',
    lambda line: line[:-1] + b',"ids":7,"ids":["b#0"]}',
    lambda line: line[:-1] + b',"gold":7,"gold":["b#0"]}',
    lambda line: line[:-1] + b',"gold":["obj-a","\\ud800"]}',
    lambda line: line[:-1] + b',"gold":["obj-a",1e999]}',
    lambda line: line[:-1] + b',"ids":["b#0"],"ids":[7]}',
    lambda line: line[:-1] + b',"x":' + b"[" * 3000 + b"]" * 3000 + b"}",
    lambda line: line[:-1] + b',"x":' + b"[" * 300 + b"]" * 300 + b"}",
    lambda line: line[:-1] + b",}",
    lambda line: b"\x0c" + line,
    lambda line: line.replace(b"obj-a", b"nobody"),
    lambda line: line.replace(b'"r1"', b'""'),
    lambda line: b"null",
    lambda line: b'"r1"',
)
"""Ways to spoil a line, or to make it unusual."""
