"""Everything that the command prints goes through this module, which escapes all control characters.

IDs, messages and names come from files and arguments that others may have written.
"""

from __future__ import annotations

import io
import logging
import re
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

from typer.core import TyperGroup

from rop_otel.core.escapes import printable_lines, readable_words

if TYPE_CHECKING:
    from rich.console import Console


def prepare() -> None:
    """Escape what a stream cannot show, also in a log that goes to the terminal."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    if logging.lastResort is not None:
        logging.lastResort.setFormatter(_Formatter())


def say(text: str = "", *, flush: bool = False) -> None:
    """Print text of one or several lines; ``flush`` lets a program that reads it see it at once."""
    print(printable_lines(text), flush=flush)


def say_json(lines: Iterable[bytes]) -> None:
    """Print JSON, whose control characters are escaped already, in UTF-8 whatever the terminal's encoding."""
    sys.stdout.flush()
    sys.stdout.buffer.writelines(lines)
    sys.stdout.buffer.flush()


def complain(text: str) -> None:
    """Print one line on standard error, as long as a person reads."""
    print("rop-otel:", readable_words(text), file=sys.stderr)


def complain_at_length(text: str) -> None:
    """Print several lines on standard error, such as a traceback."""
    print(printable_lines(text), file=sys.stderr)


def is_watched() -> bool:
    """Return whether standard error is a terminal, on which progress can be shown."""
    return sys.stderr.isatty()


def create_console(*, stderr: bool = False, **settings: Any) -> Console:
    """Return a console for tables and styles; what is printed with it is escaped however it got there.

    Args:
        stderr: True for standard error.
        settings: As ``rich`` takes them.
    """
    from rop_otel.cli.console import PrintableConsole  # imported here: --help need not wait for it

    return PrintableConsole(stderr=stderr, emoji=False, **settings)


_TAG: Final = re.compile(r"\[(?=[a-z#/@])")
"""Where rich takes a bracket for the beginning of a style."""


def _keep_brackets(command: Any) -> None:
    """Let brackets in help texts stand for themselves; a command is click's own or a copy of it, by version."""
    for each in (command, *command.params):
        if getattr(each, "help", None):
            each.help = _TAG.sub(r"\\[", each.help)
    for inner in getattr(command, "commands", {}).values():
        _keep_brackets(inner)


class Verbs(TyperGroup):
    """The command's verbs; an error in how they are used shows arguments without what a terminal would act on."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        _keep_brackets(self)

    def make_context(self, *args: Any, **settings: Any) -> Any:
        """Read the command's own arguments."""
        try:
            return super().make_context(*args, **settings)
        except Exception as error:
            _make_printable(error)
            raise

    def invoke(self, ctx: Any) -> Any:
        """Read a verb's arguments, and run it.

        Args:
            ctx: The context; typed loosely, since typer's is click's own or a copy of it, by version.
        """
        try:
            return super().invoke(ctx)
        except Exception as error:
            _make_printable(error)
            raise


class _Formatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return printable_lines(super().format(record))


def _make_printable(error: Exception) -> None:
    """Escape the message of a usage error, which is of click's own kind or of a copy of it, by version."""
    message = getattr(error, "message", None)
    if isinstance(message, str):
        error.message = printable_lines(message)  # type: ignore[attr-defined] # it has one
