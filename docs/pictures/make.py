"""Draws ``demo.svg`` from what the demo really prints, and pictures of its page; run by ``make pictures``."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from io import StringIO
from pathlib import Path
from typing import Final

from playwright.sync_api import Page, sync_playwright
from rich.console import Console
from rich.text import Text

FOLDER: Final = Path(__file__).parent
COLUMNS: Final = 104
COMMAND: Final = ("rop-otel", "demo")
FAULT: Final = ("--fault", "hidden_cut")
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


def photograph_page() -> None:
    """Write the demo's page with a fault, and take a picture of its overview and of one handoff that failed."""
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium")
    if chromium is None:
        raise SystemExit("no Chromium; on Debian: apt-get install chromium, or name one in CHROMIUM")
    with tempfile.TemporaryDirectory() as scratch, sync_playwright() as playwright:
        file = Path(scratch) / "page.html"
        command = [str(Path(sys.executable).with_name(COMMAND[0])), *COMMAND[1:], *FAULT, "--html", str(file)]
        subprocess.run(command, capture_output=True, check=True)
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 900}, reduced_motion="reduce")
        page.goto(file.as_uri())
        _photograph(page, "#scores", "page-overview.png")
        page.locator(".headline a").click()
        page.locator(".row-link").first.click()
        _photograph(page, "#findings", "page-handoff.png")
        browser.close()


def _photograph(page: Page, until: str, name: str) -> None:
    """Take a picture of the page from its top to where a heading would come."""
    bottom = page.locator(until).evaluate("heading => heading.closest('section').getBoundingClientRect().top + scrollY")
    page.screenshot(path=FOLDER / name, full_page=True, clip={"x": 0, "y": 0, "width": 1280, "height": bottom})


if __name__ == "__main__":
    photograph_page()
    (FOLDER / "demo.svg").write_text(draw(run_demo()), encoding="utf-8")
