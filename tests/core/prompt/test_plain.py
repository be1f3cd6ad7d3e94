"""The form in which documents and prompts are compared."""

from __future__ import annotations

import html
import json
from collections.abc import Callable

import pytest

from rop_otel.core.prompt import plain_text

TEXT = 'Refunds\n\n\t are "paid" for the café,\xa0the <b>shop</b> & in C:\\new \N{GRINNING FACE}'


@pytest.mark.parametrize("write", [json.dumps, repr, html.escape, lambda text: json.dumps(json.dumps(text))])
def test_what_escapes_a_text_is_undone(write: Callable[[str], str]) -> None:
    """A text is plain as what JSON, `repr()` or HTML makes of it, once or twice, is inside of its quotes."""
    assert plain_text(write(TEXT)).strip("\"'") == plain_text(TEXT)


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("", ""),
        ("one\n\n two ", "one two"),
        (r"\u12 \x4 \d", "u12 x4 d"),
        ("&zork; & more", "&zork; & more"),
        (r"half of \ud83d", "half of \N{REPLACEMENT CHARACTER}"),
        ("half of \ud83d", "half of \ud83d"),
    ],
)
def test_what_is_no_escape(text: str, plain: str) -> None:
    """What only looks like an escape stays, and half a character is none."""
    assert plain_text(text) == plain
