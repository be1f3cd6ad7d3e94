"""A run report in words, ending with where to look."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from rich.console import Console
from rich.text import Text

from rop_otel.core.escapes import printable, readable, readable_words
from rop_otel.core.profile.accounts import Accounts, Counts
from rop_otel.core.profile.report import RunReport
from rop_otel.core.profile.verdicts import RunStatus, Verdict

_STYLES: Final = {RunStatus.RUN_PASS: "bold green", RunStatus.NOT_APPLICABLE: "bold"}
_OTHER_STATUS: Final = "bold red"
_MOST_LISTED: Final = 10


def print_run_report(report: RunReport, console: Console) -> None:
    """Print a run report: the status, the population, verdicts, failures, joint outcomes, and where to look.

    Args:
        report: The report.
        console: The console. Text from files is never read as markup, and control characters are escaped.
    """
    style = _STYLES.get(report.run_status, _OTHER_STATUS)
    named = report.declaration_id or "a declaration without a name"
    console.print(Text.assemble((str(report.run_status), style), "  ", readable(named)), soft_wrap=True)
    for line in (
        *_population(report),
        *_verdicts(report),
        *_lists(report),
        *_diagnostics(report),
        *_partition(report.partition, report.accounts.counts),
        *_joint(report.joint),
    ):
        console.print(Text(line), soft_wrap=True)
    console.print()
    console.print(Text("Where to look", style="bold"))
    for line in where_to_look(report):
        console.print(Text(f"  {line}"), soft_wrap=True)


def where_to_look(report: RunReport) -> list[str]:
    """Return what to inspect for each kind of outcome, one sentence each; the kinds never mix."""
    accounts, verdicts = report.deciding, report.verdicts
    malformed = len(accounts.counts.malformed)
    contradicting = 0 if report.faults else verdicts[Verdict.DECLARATION_INVALID]
    hints = (
        (len(report.faults), "declaration", "faults; no record is assessed until they are repaired"),
        (verdicts[Verdict.FAIL], "retrieval", "usable lists that omit their object within the cutoff"),
        (verdicts[Verdict.SELECTOR_ERROR], "selection", "records without a usable selected key or witness"),
        (verdicts[Verdict.RESOLUTION_ERROR], "resolver", "records that select a key it does not know"),
        (verdicts[Verdict.UNVERIFIABLE], "logging", "records without a usable list of returned IDs"),
        (malformed, "logging", "lines that are no observation"),
        (contradicting, "run assembly", "handoffs with other terms than the declaration's"),
        (len(accounts.missing), "run assembly", "expected record IDs never observed"),
        (len(accounts.duplicates), "run assembly", "record IDs observed more than once"),
        (len(accounts.unexpected), "run assembly", "observed record IDs outside the population"),
    )
    found = [f"{where}: {what}: {count:,}" for count, where, what in hints if count]
    if found:
        return found
    if report.run_status is RunStatus.RUN_PASS:
        return ["nothing: every expected record was observed once and passes."]
    return ["nothing: the declaration requires no return; the diagnostics above say what a requirement would find."]


def _population(report: RunReport) -> Iterator[str]:
    observed = f"{report.accounts.counts.observed:,} observed"
    yield observed if report.expected is None else f"{report.expected:,} expected, {observed}"


def _verdicts(report: RunReport) -> Iterator[str]:
    for verdict, count in report.verdicts.items():
        if count:
            yield f"  {verdict:<19} {count:>10,}"
    if report.pass_fraction is not None:
        yield f"  of {report.evaluable:,} evaluable records {report.pass_fraction:.4f} pass (decides nothing)"


def _lists(report: RunReport) -> Iterator[str]:
    accounts = report.deciding
    yield from _ids(accounts)
    malformed = sorted(accounts.counts.malformed)
    yield from _listed(
        "no observation", [readable_words(f"{item.file}:{item.line}: {item.reason}") for item in malformed]
    )
    faults = [
        readable_words(f"{fault.code} at {fault.path or 'the document'}: {fault.message}") for fault in report.faults
    ]
    yield from _listed("faults of the declaration", faults, most=len(faults))


def _ids(accounts: Accounts) -> Iterator[str]:
    for title, names in (
        ("missing", accounts.missing),
        ("observed more than once", accounts.duplicates),
        ("unexpected", accounts.unexpected),
    ):
        yield from _listed(title, [readable(name) for name in names])


def _listed(title: str, names: Sequence[str], *, most: int = _MOST_LISTED) -> Iterator[str]:
    if not names:
        return
    yield f"{title}:"
    for name in names[:most]:
        yield f"  {name}"
    if len(names) > most:
        yield f"  and {len(names) - most:,} more (in the JSON report)"


def _diagnostics(report: RunReport) -> Iterator[str]:
    shape = report.diagnostics
    if shape is None:
        return
    expected = "" if shape["expected"] is None else f" of {shape['expected']:,} expected records"
    yield f"in hard mode the verdicts{expected} would be:"
    yield from (f"  {verdict:<19} {count:>10,}" for verdict, count in shape["verdicts"].items() if count)
    if shape["evaluable"]:
        yield f"  of {shape['evaluable']:,} evaluable records {shape['pass_fraction']:.4f} would pass"
    yield from _ids(report.accounts)


def _partition(shape: Mapping[str, Any] | None, counts: Counts) -> Iterator[str]:
    evaluable = sum(counts.ranks.values())
    if shape is None or not evaluable:
        return
    stored = "nothing says how deep lists were stored"
    if shape["depth"] is not None:
        stored = f"lists stored to depth {shape['depth']:,}, {_sealed(shape)}"
    yield f"where the selected object is, of {evaluable:,} evaluable records ({stored}):"
    for cutoff, at in shape["at"].items():
        held = evaluable - at["past_cutoff"] - at["absent"]
        near = "" if shape["near"] is None else f" ({at['near']:,} of them up to rank {shape['near']:,})"
        short = "" if at["nonmatch"] is None else f" ({at['nonmatch']:,} of them from a list shorter than the depth)"
        past, absent = f"{at['past_cutoff']:,} past it{near}", f"{at['absent']:,} absent{short}"
        yield f"  @{cutoff}  {held:,} within the cutoff ({held / evaluable:.4f}), {past}, {absent}"


def _joint(shape: Mapping[str, Any] | None) -> Iterator[str]:
    if shape is None:
        return
    agreement, field = shape["agreement"], printable(shape["field"])
    yield f"selected and judged objects ({field}, {_sealed(shape)}), of {sum(agreement.values()):,} evaluable records:"
    yield "  " + ", ".join(f"{agreement[name]:,} {words}" for name, words in _AGREEMENT.items())
    for cutoff, at in shape["at"].items():
        for name, outcomes in at.items():
            if agreement[name]:
                counts = ", ".join(f"{outcomes[kind]:,} {words}" for kind, words in _OUTCOMES.items())
                yield f"  @{cutoff}  of {agreement[name]:,} {_AGREEMENT[name]}: {counts}"


def _sealed(shape: Mapping[str, Any]) -> str:
    return "sealed" if shape["sealed"] else "not sealed"


_AGREEMENT: Final = {
    "same": "the same",
    "different": "different",
    "no_trace": "without judged objects",
    "unresolvable": "with judged keys that the resolver does not know",
}
_OUTCOMES: Final = {
    "both": "show both",
    "selected_only": "the selected only",
    "trace_only": "a judged only",
    "neither": "neither",
}
