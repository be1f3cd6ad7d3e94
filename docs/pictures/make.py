"""Draws ``demo.svg`` from what the demo really prints; run by ``make pictures``."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from io import StringIO
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.text import Text

FOLDER: Final = Path(__file__).parent
COLUMNS: Final = 104
COMMAND: Final = ("rop-otel", "demo")
LAST_LINE: Final = "Citations:"
"""What comes after it is advice, and would only make the picture longer."""

FETCHED_FONTS: Final = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)
FONTS: Final = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace"


def run_demo() -> list[str]:
    """Run the demo as in a terminal and return the lines that it prints, colours included."""
    command = [str(Path(sys.executable).with_name(COMMAND[0])), *COMMAND[1:]]
    environment = os.environ | {"FORCE_COLOR": "1", "COLUMNS": str(COLUMNS)}
    finished = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    lines = finished.stdout.splitlines()
    last = max(place for place, line in enumerate(lines) if LAST_LINE in line)
    return lines[: last + 1]


def draw(lines: list[str]) -> str:
    """Return the picture of a terminal with these lines."""
    console = Console(record=True, width=COLUMNS, file=StringIO(), force_terminal=True, color_system="truecolor")
    console.print(Text.assemble(("$ ", "green"), "make demo"), highlight=False)
    for line in lines:
        console.print(Text.from_ansi(line), highlight=False)
    picture = console.export_svg(title="make demo", unique_id="demo")
    # It fetches no font: whoever shows it takes one of their own.
    return FETCHED_FONTS.sub("", picture).replace("Fira Code, monospace", FONTS)


if __name__ == "__main__":
    (FOLDER / "demo.svg").write_text(draw(run_demo()), encoding="utf-8")
