"""Text without what templates change in it."""

from __future__ import annotations

import html
import re
from contextlib import suppress
from typing import Final

_ESCAPED: Final = re.compile(r"\\+(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|([nrt]))?")


def plain_text(text: str) -> str:
    """Return a text with single spaces, and as it was before JSON, ``repr()`` or HTML escaped it.

    Templates do that to documents: what a prompt holds is compared with their text in this form.
    """
    if "\\" in text:
        text = _ESCAPED.sub(_unescaped, text)
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")  # JSON writes some characters as two
    if "&" in text:
        with suppress(ValueError):  # a number of more digits than Python reads
            text = html.unescape(text)
    return " ".join(text.split())


def _unescaped(escape: re.Match[str]) -> str:
    code = escape[1] or escape[2]
    return chr(int(code, 16)) if code else " " if escape[3] else ""
