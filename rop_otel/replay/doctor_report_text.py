"""A checkup as text for a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console
from rich.text import Text

from rop_otel.core.escapes import readable, readable_words
from rop_otel.replay.doctor_report import Checkup, NamedCheckup


def print_checkup(checkup: Checkup, console: Console) -> None:
    """Print a checkup: for each handoff name what is watched, and what looks wrong with what to change."""
    for name, named in checkup.names.items():
        console.print(Text(readable(name), style="bold"), end="")
        handoffs = "handoff" if named.handoffs == 1 else "handoffs"
        console.print(Text(f": {named.handoffs:,} {handoffs}, {_verdicts(named)}"))
        console.print(Text(f"  watching {readable_words(named.watched)}"))
        for line in _symptoms(named):
            console.print(line)
        console.print()
    for remark in checkup.remarks():
        console.print(Text(remark, style="yellow"))
    console.print(Text(_conclusion(checkup), style="bold red" if checkup.grave else "bold green"))


def _verdicts(named: NamedCheckup) -> str:
    return ", ".join(f"{count:,} {verdict}" for verdict, count in named.verdicts.most_common())


def _symptoms(named: NamedCheckup) -> Iterator[Text]:
    for code, each in named.ordered():
        grave = named.is_grave(code)
        mark = Text("  ✗ " if grave else "  · ", style="bold red" if grave else "yellow")
        yield mark + Text(f"{each.handoffs:,} of {named.handoffs:,}: {readable_words(each.seen)}.")
        yield Text(f"    {code.advice[0].upper()}{code.advice[1:]}.")
        yield Text(f"    First in {readable(each.first)}", style="dim")
    if not named.symptoms:
        yield Text("  ✓ nothing looks wrong", style="green")


def _conclusion(checkup: Checkup) -> str:
    if not checkup.names:
        return "Nothing is watched."
    if checkup.grave:
        return "Some verdicts are meaningless until this is changed."
    return "The verdicts mean what they say."
