"""Options that take several values at once: ``--corpus a.jsonl b.jsonl``."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand, TyperOption


class SeveralValues(TyperCommand):
    """A command without positional arguments, in which values that follow an option belong to that option."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Repeat a multiple option before each further value that follows it.

        Args:
            ctx: The context; typed loosely, since typer's is click's own or a copy of it, by version.
            args: The command's arguments.
        """
        multiple = {
            name
            for option in self.params
            if isinstance(option, TyperOption) and option.multiple
            for name in option.opts
        }
        spread: list[str] = []
        current, given = "", False
        for argument in args:
            if argument.startswith("-") and argument != "-":
                current, given = argument, False
            elif current in multiple and given:
                spread.append(current)
            else:
                given = True
            spread.append(argument)
        return super().parse_args(ctx, spread)
