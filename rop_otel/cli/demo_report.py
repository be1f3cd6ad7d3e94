"""The tables that ``rop-otel demo`` prints."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from rop_otel.cli.typed_command import typed_command
from rop_otel.core.escapes import printable
from rop_otel.core.handoff import Joint, Severity, Verdict
from rop_otel.reference.faults import Fault
from rop_otel.reference.summary import MEASURES, SHOWN, Held, Summary
from rop_otel.replay.handoff_report_text import counted, verdict_counts

_BAR: Final = 28
_NAMED: Final = 5
_ORDER_NOTE: Final = (
    "From the reorder on, the best passages stand at both ends on purpose: there, ranks are places in the context."
)
_RESCUE_NOTE: Final = (
    "Rescue adds passages for rare words that packing's lack; the reader is shown both lists, one after the other."
)
_JOINT: Final = {
    Joint.BOTH: "the selected object and a judged one",
    Joint.SELECTED_ONLY: "only the selected one",
    Joint.JUDGED_ONLY: "only a judged one",
    Joint.NEITHER: "neither",
}
_SEVERITY_STYLE: Final = {Severity.ERROR: "bold red", Severity.WARNING: "yellow", Severity.INFO: "cyan"}


def print_summary(summary: Summary, console: Console, *, linked: bool, seconds: float) -> None:
    """Print verdicts, funnel, losses, findings and scores.

    Args:
        summary: The totals.
        console: Where to print.
        linked: Whether a selector picked the objects.
        seconds: How long everything took.
    """
    console.print(f"[bold]Time[/]       {seconds:.1f} s in all\n", highlight=False)
    console.print(verdict_counts(summary.verdicts))
    for sentence in _selections(summary, linked=linked):
        console.print(sentence, highlight=False, soft_wrap=True)
    if summary.unresolved:
        console.print(escape(printable(_unknown(summary))), style="yellow", highlight=False, soft_wrap=True)
    for table in (
        _funnel(summary.funnel),
        _losses(summary),
        *_worth(summary),
        _findings(summary),
        _scores(summary),
    ):
        console.print()
        console.print(table)
    for note in (_ORDER_NOTE, *([_RESCUE_NOTE] if summary.rescued else [])):
        console.print(note, style="dim", highlight=False, soft_wrap=True)
    console.print()
    console.print(_citations(summary), highlight=False, soft_wrap=True)


def print_fault(fault: Fault, summary: Summary, console: Console, *, acted: bool) -> bool:
    """Print whether an injected fault was caught, and return that.

    Args:
        fault: What was injected.
        summary: The totals.
        console: Where to print.
        acted: Whether the fault changed anything.
    """
    found = summary.found(fault.finding, fault.stage)
    lost = sum(
        count
        for (stage, cause), count in summary.losses.items()
        if fault.cause and cause == fault.cause.value and stage == fault.stage
    )
    console.print(f"\n[bold]Injected[/]   {fault.name}: {escape(fault.description)}", highlight=False, soft_wrap=True)
    if not acted:
        console.print(
            "[bold yellow]No effect[/]  it changed nothing here: these questions and pages give it nothing to act on",
            highlight=False,
            soft_wrap=True,
        )
        return False
    if not found:
        console.print(f"[bold red]Not caught[/] no finding {fault.finding.value} at {fault.stage}", highlight=False)
        return False
    losses = f"; {counted(lost, 'selected object')} lost there: {fault.cause.words}" if fault.cause and lost else ""
    console.print(
        f"[bold green]Caught[/]     {fault.finding.value} at {fault.stage} in {found:,} of"
        f" {counted(summary.handoffs, 'handoff')}{losses}",
        highlight=False,
        soft_wrap=True,
    )
    question, message = summary.instances[fault.finding.value, fault.stage]
    console.print(f"[bold]Such as[/]    {escape(printable(f'{question}: {message}'))}", highlight=False, soft_wrap=True)
    return True


def print_faults(faults: Iterable[Fault], console: Console) -> None:
    """Print every fault with what has to be found."""
    table = _table("Failures to inject with --fault NAME")
    table.add_column("name", no_wrap=True)
    table.add_column("what goes wrong, and how it is caught")
    for fault in faults:
        caught = Text(f"{fault.finding.value} at {fault.stage}", "green")
        table.add_row(Text(fault.name, "bold"), Text.assemble(fault.description, " → ", caught))
    console.print(table)


def print_next_steps(
    console: Console, *, fault: str | None, export: Path | None, resolver: Path | None, html: Path | None, own: bool
) -> None:
    """Print what to try next.

    Args:
        console: Where to print.
        fault: The fault that was injected just now.
        export: The file of spans that was written.
        resolver: The resolver that goes with it.
        html: The page that was written.
        own: Whether the corpus was the user's.
    """
    command = typed_command()
    other = next(name for name in ("hidden_cut", "missing_reranker") if name != fault)
    steps = [
        (f"{command} demo --fault {other}", "break one stage and see it caught; --fault list names all"),
        (f"{command} demo --export spans.jsonl", "keep the spans, to assess them again later"),
        (f"{command} demo --serve", "keep answering, with a live page and numbers on /metrics"),
    ]
    if export and resolver:
        files = f"{shlex.quote(str(export))} --resolver {shlex.quote(str(resolver))}"
        steps[1] = (f"{command} replay {files}", "assess the recorded spans: the same verdicts")
    if not own:
        steps.append((f"{command} demo --corpus pages.jsonl --questions questions.jsonl", "the same on your own text"))
    if not html:
        steps.append((f"{command} demo --html page.html", "draw every handoff on a page, to open in a browser"))
    console.print("\n[bold]Try next[/]")
    for step, why in steps:
        console.print(f"  [green]{escape(step)}[/]\n      {why}", highlight=False, soft_wrap=True)
    if html:
        console.print(
            f"\n[bold]Page[/]       [green]{escape(printable(str(html)))}[/] draws every handoff: open it in a browser",
            highlight=False,
            soft_wrap=True,
        )


def _selections(summary: Summary, *, linked: bool) -> Iterable[str]:
    if linked:
        yield (
            f"The selector picked a judged object for {counted(summary.right, 'question')}, another one for"
            f" {summary.wrong:,},"
            f" none for {summary.unselected:,}."
        )
    elif summary.wrong:
        right = counted(summary.right, "question")
        yield f"The selected object is a judged one for {right}, and not for {summary.wrong:,}."
    if summary.joints:
        counts = [f"{words} for {summary.joints.get(joint, 0):,}" for joint, words in _JOINT.items()]
        yield f"The reader was shown {', '.join(counts)}."


def _unknown(summary: Summary) -> str:
    """Return which selections the corpus does not have."""
    named = [f"{each.question.id} selects {each.selected!r}" for each in summary.unresolved[:_NAMED]]
    more = len(summary.unresolved) - _NAMED
    return f"Not in the corpus: {', '.join(named)}" + (f" and {more:,} more." if more > 0 else ".")


def _funnel(funnel: tuple[Held, ...]) -> Table:
    table = _table("Did the selected object survive?", "stage")
    table.add_column("holds it", justify="right")
    table.add_column("", justify="right")
    table.add_column("", min_width=_BAR)
    for row in funnel:
        share = row.held / row.total
        bar = Text("█" * round(share * _BAR), "green").append("░" * (_BAR - round(share * _BAR)), "dim")
        style = _row_style(row.stage)
        table.add_row(_named(row.stage), f"{row.held:,}/{row.total:,}", f"{share:.1%}", bar, style=style)
    return table


def _losses(summary: Summary) -> Table | str:
    selected, judged = summary.losses, summary.judged_losses
    if not selected and not judged:
        if summary.verdicts.get(Verdict.PASS):
            return "No selected object was lost, and no judged one."
        return "What was lost is not known: no handoff is PASS or FAIL."
    table = _table("Where were the others lost?", "lost at", "cause")
    table.add_column("selected", justify="right", style="green")
    table.add_column("judged", justify="right", style="cyan")
    table.add_column("for example")
    for place in sorted(
        {*selected, *judged}, key=lambda place: (-selected.get(place, 0), -judged.get(place, 0), place[0] or "", place)
    ):
        raw, outcome = summary.examples[place]
        example = Text(printable(f"{outcome.question.id}: {raw}"), overflow="ellipsis", no_wrap=True)
        counts = [f"{lost[place]:,}" if lost.get(place) else "–" for lost in (selected, judged)]
        table.add_row(place[0] or "–", place[1], *counts, example)
    return table


def _worth(summary: Summary) -> Iterable[Table]:
    """Give the table of sources, where there are several of which something was shown."""
    if len(summary.worth) < 2 or not any(each.shown for each in summary.worth):
        return
    table = _table("What is each source worth?", "source")
    table.add_column("shown passages", justify="right")
    table.add_column("from it alone", justify="right")
    table.add_column("share", justify="right")
    for each in summary.worth:
        share = f"{each.only / each.shown:.1%}" if each.shown else "–"
        table.add_row(each.source, f"{each.shown:,}", f"{each.only:,}", share)
    yield table


def _findings(summary: Summary) -> Table | str:
    if not summary.findings:
        return "No findings."
    table = _table("What else was found?", "severity", "finding", "stage")
    table.add_column("handoffs", justify="right")
    order = list(reversed(Severity))
    for (severity, code, stage), count in sorted(
        summary.findings.items(), key=lambda found: (order.index(found[0][0]), -found[1], found[0][1:])
    ):
        table.add_row(Text(severity.value, _SEVERITY_STYLE[severity]), code, stage, f"{count:,}")
    return table


def _scores(summary: Summary) -> Table:
    table = _table("How good is each stage? Mean scores for selected and judged objects", "stage")
    table.add_column("IDs", justify="right")
    for measure in MEASURES:
        table.add_column(f"{measure}\nselected", justify="right", style="green")
        table.add_column("\njudged", justify="right", style="cyan")
    for means in summary.means:
        cells = [
            f"{scores[measure]:.3f}" if measure in scores else "–"
            for measure in MEASURES
            for scores in (means.selected, means.judged)
        ]
        table.add_row(_named(means.stage), f"{means.returned:.1f}", *cells, style=_row_style(means.stage))
    return table


def _named(stage: str) -> str:
    return "reader is shown" if stage == SHOWN else stage


def _row_style(stage: str) -> str:
    return "bold" if stage == SHOWN else ""


def _citations(summary: Summary) -> str:
    counts = ", ".join(f"{count:,} {name}" for name, count in summary.citations.items())
    return f"Citations: {counts}. The reader abstained {counted(summary.abstained, 'time')}."


def _table(title: str, *columns: str) -> Table:
    return Table(*columns, title=f"[bold]{title}[/]", title_justify="left", title_style="", box=None, pad_edge=False)
