"""Options that take several values at once: ``--corpus a.jsonl b.jsonl``."""

from __future__ import annotations

import click
from typer.core import TyperCommand


class SeveralValues(TyperCommand):
    """A command without positional arguments, in which values that follow an option belong to that option."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Repeat a multiple option before each further value that follows it."""
        multiple = {
            name
            for option in self.params
            if isinstance(option, click.Option) and option.multiple
            for name in option.opts
        }
        spread: list[str] = []
        current, given = "", False
        for argument in args:
            if argument.startswith("-"):
                current, given = argument, False
            elif current in multiple and given:
                spread.append(current)
            else:
                given = True
            spread.append(argument)
        return super().parse_args(ctx, spread)
