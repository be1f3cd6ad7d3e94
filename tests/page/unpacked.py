"""The page's file read as the page reads it: what unpack.js does, in Python."""

from __future__ import annotations

import base64
import gzip
import json
import re
import struct
from typing import Any

Doc = dict[str, Any]

_BLOCK = re.compile(rb'<script type="application/(json|octet-stream)" data-block="([\w-]+)">(.*?)</script>', re.DOTALL)


def blocks(page: bytes) -> dict[str, Any]:
    """Return what the data blocks of a page hold, by name."""
    found: dict[str, Any] = {}
    for form, name, text in _BLOCK.findall(page):
        data = text if form == b"json" else gzip.decompress(base64.b64decode(text, validate=True))
        found[name.decode()] = json.loads(data)
    return found


def details(found: dict[str, Any], number: int = 0) -> list[Doc]:
    """Return the details of a set."""
    names = [f"set-{number}-handoffs-{block}" for block in range(found["head"]["sets"][number]["blocks"])]
    return [unpack(found[name], place) for name in names for place in range(len(found[name]["handoffs"]))]


def unpack(block: Doc, place: int) -> Doc:
    """Return a detail as the views read it."""
    known = [_list(each, block["texts"][place]) for each in block["lists"][place]]

    def whole(value: Any) -> Any:
        if isinstance(value, list):
            return [whole(each) for each in value]
        if isinstance(value, dict):
            return known[value["$"]] if "$" in value else {name: whole(each) for name, each in value.items()}
        return value

    detail: Doc = whole(block["handoffs"][place])
    if detail["test"] is not None:
        detail["test"] = "".join(each if isinstance(each, str) else _python(each) for each in detail["test"])
    detail["spans"] = {"resourceSpans": [_group(each) for each in detail["spans"]]}
    return detail


def _list(written: Any, texts: list[str]) -> list[Any]:
    if isinstance(written, list):
        return written
    if "t" in written:
        return [texts[at] for at in written["t"]]
    if "f" in written:
        return [struct.unpack("f", struct.pack("f", each))[0] for each in written["f"]]
    return [float(each) for each in written["n"]]


def _python(values: list[Any]) -> str:
    words = [repr(each) if each == each and abs(each) != float("inf") else f'float("{each}")' for each in values] if (
        values and isinstance(values[0], float)
    ) else [ascii(each) for each in values]  # fmt: skip
    return f"[{', '.join(words)}]"


def _group(group: Doc) -> Doc:
    resource = {} if group["service"] is None else {"attributes": [_attribute("service.name", group["service"])]}
    spans = [
        {**span, "attributes": [_attribute(*each) for each in span["attributes"].items()]} for span in group["spans"]
    ]
    return {"resource": resource, "scopeSpans": [{"scope": {"name": group["scope"]}, "spans": spans}]}


def _attribute(key: str, value: Any) -> Doc:
    return {"key": key, "value": _value(value)}


def _value(value: Any) -> Doc:
    if isinstance(value, list):
        return {"arrayValue": {"values": [_value(each) for each in value]}}
    if isinstance(value, str):
        return {"stringValue": value}
    if isinstance(value, bool):
        return {"boolValue": value}
    if value == value and value == int(value if abs(value) != float("inf") else 0):
        return {"intValue": str(int(value))}
    return {"doubleValue": value if value == value and abs(value) != float("inf") else str(value)}
