"""What stands around the data: the frame in HTML, the style, and the scripts of a file or of a served page."""

from __future__ import annotations

from importlib.resources import files
from typing import Final, Literal

_ASSETS: Final = files("rop_otel.page") / "assets"
_POLICY, _STYLE, _DATA, _SCRIPT = "<!--{policy}-->", "<!--{style}-->", "<!--{data}-->", "<!--{script}-->"

Door = Literal["file", "served"]
"""Where the views get their data: the blocks of the file they are in, or the API of the server they came from."""


def frame(*, policy: str, style: str, script: str) -> tuple[str, str]:
    """Return the page before and after its data.

    Args:
        policy, style, script: The elements, in HTML.
    """
    before, _, after = _text("index.html").partition(_DATA)
    for place, element in ((_POLICY, policy), (_STYLE, style), (_SCRIPT, script)):
        before, after = before.replace(place, element), after.replace(place, element)
    return before, after


def style() -> str:
    """Return the style sheet."""
    return _text("style.css")


def script(door: Door) -> str:
    """Return the scripts in order, as one: libraries, views, and the feed of this door."""
    names = [line.split() for line in _text("scripts.txt").splitlines()]
    return "\n".join(_text(name[-1]) for name in names if len(name) == 1 or name[0] == door)


def _text(name: str) -> str:
    return (_ASSETS / name).read_text(encoding="utf-8")
