"""One HTML file that holds everything: views, libraries and data. It opens from disk and loads nothing."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO

import msgspec

from rop_otel.core.handoff.sums import add_up
from rop_otel.errors import ConfigurationError
from rop_otel.page.assessed_set import AssessedSet
from rop_otel.page.detail import detail
from rop_otel.page.document import BLOCK, head, rows
from rop_otel.page.packed_details import pack
from rop_otel.page.shell import frame, script, style


def write_page(
    sets: Sequence[AssessedSet],
    stream: BinaryIO,
    *,
    title: str = "rop-otel",
    made_at: str | None = None,
    trace_url: str | None = None,
) -> None:
    """Write sets of assessed handoffs as one HTML file.

    The same sets give the same bytes.

    Args:
        sets: At least one; its handoffs may be none.
        stream: Takes the bytes, block by block.
        title: Of the page.
        made_at: When it is made, RFC 3339; None: not said.
        trace_url: Where a trace is seen, with ``{trace_id}`` for its ID; None: trace IDs are no links.

    Raises:
        ConfigurationError: The address of traces is none of http or https, or has no place for the ID.
        OSError: The stream cannot take them.
    """
    check_trace_url(trace_url)
    before, after = _shell()
    stream.write(before)
    totals = [add_up(each.assessments) for each in sets]
    stream.write(_plain("head", head(sets, totals, title=title, made_at=made_at, trace_url=trace_url)))
    for number, (shown, total) in enumerate(zip(sets, totals, strict=True)):
        stream.write(_packed(f"set-{number}-rows", list(rows(shown, total))))
        for block, details in enumerate(_blocks(shown)):
            stream.write(_packed(f"set-{number}-handoffs-{block}", details))
    stream.write(after)


def check_trace_url(trace_url: str | None) -> None:
    """Raise where the address of traces is none of http or https, or has no place for the ID.

    Raises:
        ConfigurationError: It is so.
    """
    if trace_url is not None and not (trace_url.startswith(("http://", "https://")) and "{trace_id}" in trace_url):
        raise ConfigurationError(f"{trace_url!r} is no address of traces: http or https, with {{trace_id}} for the ID")


def _blocks(shown: AssessedSet) -> Iterator[dict[str, Any]]:
    for first in range(0, len(shown.assessments), BLOCK):
        yield pack(detail(shown, place) for place in range(first, min(first + BLOCK, len(shown.assessments))))


def _shell() -> tuple[bytes, bytes]:
    """Return the page before and after its data, with style, script and the policy that allows just these."""
    css, code = style(), script("file")
    policy = (
        f"default-src 'none'; script-src '{_hash(code)}'; style-src '{_hash(css)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    before, after = frame(
        policy=f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
        style=f"<style>{css}</style>",
        script=f"<script>{code}</script>",
    )
    return before.encode(), after.encode()


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _json(value: object) -> bytes:
    """Return JSON; halves of surrogate pairs, which have no UTF-8 form, are escaped, and so then is all but ASCII."""
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":")).encode()


def _plain(name: str, value: object) -> bytes:
    """Return a block that can be read as it is; nothing in it can end it."""
    text = json.dumps(value, separators=(",", ":"))
    text = text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    return f'<script type="application/json" data-block="{name}">{text}</script>\n'.encode()


def _packed(name: str, value: object) -> bytes:
    packed = base64.b64encode(gzip.compress(_json(value), compresslevel=9, mtime=0)).decode()
    return f'<script type="application/octet-stream" data-block="{name}">{packed}</script>\n'.encode()
