"""The report of a replay in words, for whoever is on call."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import chain

from rich.console import Console
from rich.table import Table
from rich.text import Text

from rop_otel.core.escapes import readable, readable_words
from rop_otel.core.handoff import Assessment, HandoffRecord, Joint, Severity, Verdict
from rop_otel.core.handoff.stage_lists import StageLists
from rop_otel.core.handoff.sums import add_up
from rop_otel.core.handoff.totals import Totals
from rop_otel.replay.handoff_report import Report

_STYLES = {Verdict.PASS: "green", Verdict.FAIL: "bold red", Verdict.NOT_APPLICABLE: "dim"}
_OTHER_VERDICT = "yellow"
_SEVERITIES = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.INFO: "dim"}
_TITLES = {Severity.ERROR: "Errors", Severity.WARNING: "Warnings", Severity.INFO: "Worth a look"}
_JOINT = {
    Joint.BOTH: "the reader was shown both",
    Joint.SELECTED_ONLY: "the reader was shown the selected one only",
    Joint.JUDGED_ONLY: "the reader was shown a judged one only",
    Joint.NEITHER: "the reader was shown neither",
}
_MOST_NAMED = 5


def print_report(report: Report, console: Console, *, lists: bool = False) -> None:
    """Print a sentence per handoff with its findings below, then a summary.

    Args:
        report: What to print.
        console: Where to; what comes from the spans is never taken as markup or control characters.
        lists: Whether to print the IDs that each stage returned.
    """
    for assessment, record, stages in zip(report.assessments, report.handoffs, report.lists, strict=True):
        lines = (
            _handoff_lines(assessment),
            _target_lines(assessment, record),
            _list_lines(assessment, stages) if lists else _dropped_lines(assessment, stages),
        )
        for line in chain.from_iterable(lines):
            console.print(line, soft_wrap=True)
    if report.assessments:
        console.print()
    totals = add_up(report.assessments)
    console.print(_total(report, totals), soft_wrap=True)
    for table in _tables(totals):
        console.print()
        console.print(table)
    for sentence in _remarks(report):
        console.print(readable_words(sentence), style=_OTHER_VERDICT, soft_wrap=True, markup=False, highlight=False)


def verdict_counts(counts: Mapping[Verdict, int]) -> Text:
    """Return how many handoffs there are, and how many have each verdict: those that matter most first."""
    order = (Verdict.PASS, Verdict.FAIL, *(each for each in Verdict if each not in (Verdict.PASS, Verdict.FAIL)))
    parts = [
        Text(f"{counts[verdict]:,} {verdict.value}", style=_STYLES.get(verdict, _OTHER_VERDICT))
        for verdict in order
        if counts.get(verdict)
    ]
    return Text(f"{counted(sum(counts.values()), 'handoff')}: ") + Text(", ").join(parts)


def counted(count: int, what: str) -> str:
    """Return a number with its noun.

    >>> counted(1, "handoff"), counted(2000, "handoff")
    ('1 handoff', '2,000 handoffs')
    """
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def _handoff_lines(assessment: Assessment) -> Iterator[Text]:
    style = _STYLES.get(assessment.verdict, _OTHER_VERDICT) if assessment.verdict else _OTHER_VERDICT
    known_as = assessment.record_id or assessment.handoff_id
    name = assessment.handoff_name
    said = readable(name) + readable_words(str(assessment).removeprefix(name))
    yield Text.assemble((readable(known_as), "bold"), " ", (said, style))
    for finding in assessment.findings:
        where = _where(finding.stage, finding.name, finding.round)
        yield Text.assemble(
            "    ",
            (finding.severity, _SEVERITIES[finding.severity]),
            f" {finding.code} at {where}: {readable_words(finding.message)}",
        )


def _target_lines(assessment: Assessment, record: HandoffRecord) -> Iterator[Text]:
    """Say what was selected and judged, how both go together, and which judged objects were lost where."""
    given = [
        f"{what} {_named(ids)}"
        for what, ids in (("selected", record.selected), ("judged", tuple(filter(None, record.judged or ()))))
        if ids
    ]
    if assessment.agreement is not None:
        given.append(f"the selected object is {'a' if assessment.agreement else 'no'} judged one")
    if assessment.joint is not None:
        given.append(_JOINT[assessment.joint])
    if given:
        yield Text(f"    {'; '.join(given)}", style="dim")
    for loss in assessment.judged_losses or ():
        where = _where(loss.drop.stage, loss.drop.name, loss.drop.round)
        place = f" at {where}" if where else ""
        yield Text(f"    judged {readable(loss.id)} was lost{place}: {loss.drop.cause.words}", style="dim")


def _list_lines(assessment: Assessment, stages: tuple[StageLists, ...]) -> Iterator[Text]:
    """Say which documents each stage returned."""
    for stage, scores in zip(stages, assessment.stages, strict=True):
        where = _where(stage.stage, stage.name, stage.round)
        if stage.returned is None:
            yield Text(f"    {where}: unreadable", style="dim")
            continue
        more = (scores.returned or 0) - len(stage.returned)
        after = f" and {more:,} that were not recorded" if more > 0 else ""
        yield Text(f"    {where}: {', '.join(map(readable, stage.returned)) or 'nothing'}{after}", style="dim")


def _dropped_lines(assessment: Assessment, dropped: tuple[StageLists, ...]) -> Iterator[Text]:
    """Say which documents fell away where, unless a verdict says what became of the one that matters."""
    if assessment.verdict in (Verdict.PASS, Verdict.FAIL):
        return
    for stage in dropped:
        if stage.dropped:
            where = _where(stage.stage, stage.name, stage.round)
            yield Text(f"    dropped at {where}: {_named(stage.dropped)}", style="dim")


def _where(*parts: str | int | None) -> str:
    return "/".join(readable(str(part)) for part in parts if part is not None)


def _total(report: Report, totals: Totals) -> Text:
    if not report.assessments:
        return Text("No handoffs: no span carries a handoff's name.", style=_OTHER_VERDICT)
    return verdict_counts(totals.verdicts)


def _tables(totals: Totals) -> Iterator[Table]:
    for title, what, lost in (
        ("Where selected objects were lost", "handoffs", totals.losses_by_kind),
        ("Where judged objects were lost", "objects", totals.judged_losses_by_kind),
    ):
        if lost:
            named = Counter({(stage or "(no stage)", cause): count for (stage, cause), count in lost.items()})
            yield _table(title, ("stage", "cause", what), _most_first(named))
    for severity in reversed(Severity):
        found = Counter(
            {(code, stage): count for (each, code, stage), count in totals.findings_by_kind.items() if each is severity}
        )
        if found:
            yield _table(_TITLES[severity], ("finding", "stage", "count"), _most_first(found))


def _most_first(counts: Counter[tuple[str, str]]) -> list[tuple[str, str, str]]:
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return [(*names, f"{count:,}") for names, count in ordered]


def _table(title: str, columns: tuple[str, str, str], rows: list[tuple[str, str, str]]) -> Table:
    table = Table(*columns[:2], title=title, title_justify="left", box=None, pad_edge=False)
    table.add_column(columns[2], justify="right")
    for row in rows:
        table.add_row(*(Text(readable(cell)) for cell in row))
    return table


def _remarks(report: Report) -> Iterator[str]:
    for sha256 in report.absent_resolvers:
        yield f"The spans name resolver {sha256}, which was not given; give its file with --resolver."
    if report.orphan_stages:
        yield f"{counted(report.orphan_stages, 'stage span')} without a handoff: no handoff ID, and no handoff above."
    if report.unreadable:
        yield f"{counted(report.unreadable, 'span')} of others left out: what they hold is not what OTLP allows."
    if report.incomplete:
        yield f"{counted(len(report.incomplete), 'handoff')} without a handoff span: {_named(report.incomplete)}."
    if report.duplicates:
        yield f"{counted(len(report.duplicates), 'handoff ID')} seen again, not assessed: {_named(report.duplicates)}."


def _named(names: tuple[str, ...]) -> str:
    more = len(names) - _MOST_NAMED
    return ", ".join(map(readable, names[:_MOST_NAMED])) + (f" and {more:,} more" if more > 0 else "")
