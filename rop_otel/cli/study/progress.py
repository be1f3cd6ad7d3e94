"""How far a study is, on a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rop_otel.cli.terminal import create_console, is_watched


@contextmanager
def shown_progress() -> Iterator[Callable[[str, int, int], None]]:
    """Show one bar for what is being done at the time; nothing where standard error is no terminal."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=create_console(stderr=True), transient=True, disable=not is_watched()) as bars:
        tasks = {}

        def show(what: str, done: int, total: int) -> None:
            if what not in tasks:
                tasks[what] = bars.add_task(what, total=total)
            bars.update(tasks[what], completed=done, total=total)

        yield show
