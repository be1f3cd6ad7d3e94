"""The page as a server gives it: three files that do not change, fed by the API beside them."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import Final

from rop_otel.page.shell import frame, script, style

POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""What a browser lets the page do: load its own script and style, and ask its own server. Nothing inline."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedFile:
    """One file of the page.

    Args:
        path: Where it is asked for.
        media_type: Its type.
        content: Its bytes.
        tag: Another one for other bytes.
    """

    path: str
    media_type: str
    content: bytes
    tag: str


def served_files() -> tuple[ServedFile, ...]:
    """Return the files of the page. Their addresses in it are relative, so that it may lie below a path."""
    before, after = frame(
        policy="",
        style='<link rel="stylesheet" href="assets/page.css">',
        script='<script src="assets/page.js"></script>',
    )
    return (
        _file("/", "text/html", before + after),
        _file("/assets/page.css", "text/css", style()),
        _file("/assets/page.js", "text/javascript", script("served")),
    )


def _file(path: str, media_type: str, text: str) -> ServedFile:
    content = text.encode()
    tag = f'"{sha256(content).hexdigest()[:32]}"'
    return ServedFile(path=path, media_type=media_type, content=content, tag=tag)
