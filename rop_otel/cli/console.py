"""A console that prints no control characters except its own styles."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from rop_otel.core.escapes import printable_lines


class PrintableConsole(Console):
    """Escapes every piece of text after all markup, tables and styles are laid out."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Lay out something that is to be printed."""
        for segment in super().render(renderable, options):
            if segment.control or segment.text.isprintable():
                yield segment
            else:
                yield Segment(printable_lines(segment.text), segment.style)
