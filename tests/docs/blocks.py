"""The Python in a Markdown file, as one script that keeps the file's line numbers, and what it should print."""

from __future__ import annotations

import re
import textwrap

FENCE = re.compile(r"^ *```+ *(?P<info>[^`]*)$")
OUTPUT = re.compile(r"^```output\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
SPELLINGS = frozenset({"py", "python3", "pycon", "py3"})


class UnrunnableBlockError(ValueError):
    """A fenced block that looks like Python and would not be run."""


def script(markdown: str) -> str:
    r"""Return the file's Python blocks at their own lines, everything else blank: tracebacks point into the file.

    Raises:
        UnrunnableBlockError: A block is marked as Python in a way that would hide it, or is never closed.

    >>> script("Text\n```python\nx = 1\n```\n")
    '\n\nx = 1\n\n'
    """
    lines: list[str] = []
    block: list[str] | None = None
    running = False
    for number, line in enumerate(markdown.splitlines(), 1):
        fence = FENCE.match(line)
        if fence is None:
            (lines if block is None else block).append("" if block is None else line)
        elif block is None:
            running = _is_python(fence["info"].strip(), number)
            lines.append("")
            block = []
        else:
            lines += textwrap.dedent("\n".join(block)).split("\n") if running and block else [""] * len(block)
            lines.append("")
            block = None
    if block is not None:
        raise UnrunnableBlockError("the last fenced block is never closed")
    return "\n".join(lines) + "\n"


def outputs(markdown: str) -> str:
    r"""Return what the file's Python blocks are said to print: its output blocks, joined.

    >>> outputs("```python\nprint(1)\n```\n```output\n1\n```\n")
    '1\n'
    """
    return "".join(found["text"] for found in OUTPUT.finditer(markdown))


def _is_python(info: str, number: int) -> bool:
    language = info.split()[0] if info else ""
    if language in SPELLINGS or (language == "python" and info != "python"):
        raise UnrunnableBlockError(f"line {number}: write ```python, not ```{info}: every Python block is run")
    return info == "python"
