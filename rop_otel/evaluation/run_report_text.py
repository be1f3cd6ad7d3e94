"""A run report in words, ending with where to look."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from rich.console import Console
from rich.text import Text

from rop_otel.core.escapes import printable
from rop_otel.core.profile.report import RunReport
from rop_otel.core.profile.verdicts import RunStatus, Verdict

_STYLES: Final = {RunStatus.RUN_PASS: "bold green", RunStatus.NOT_APPLICABLE: "bold"}
_OTHER_STATUS: Final = "bold red"
_MOST_LISTED: Final = 10


def print_run_report(report: RunReport, console: Console) -> None:
    """Print a run report: the status, the population accounted for, verdicts, diagnostics, and where to look.

    Args:
        report: What to print.
        console: Where to; what comes from files is never taken as markup or control characters.
    """
    style = _STYLES.get(report.run_status, _OTHER_STATUS)
    named = report.declaration_id or "a declaration without a name"
    console.print(Text.assemble((str(report.run_status), style), "  ", printable(named)), soft_wrap=True)
    for line in (*_population(report), *_verdicts(report), *_lists(report), *_diagnostics(report.diagnostics)):
        console.print(Text(line), soft_wrap=True)
    console.print()
    console.print(Text("Where to look", style="bold"))
    for line in where_to_look(report):
        console.print(Text(f"  {line}"), soft_wrap=True)


def where_to_look(report: RunReport) -> list[str]:
    """Return what to inspect for each kind of outcome, one sentence each; the kinds never mix."""
    accounts, verdicts = report.accounts, report.verdicts
    malformed = len(accounts.counts.malformed)
    contradicting = 0 if report.faults else verdicts[Verdict.DECLARATION_INVALID]
    hints = (
        (len(report.faults), "declaration", "faults; nothing is judged until they are mended"),
        (verdicts[Verdict.FAIL], "retrieval", "usable lists that omit their object within the cutoff"),
        (verdicts[Verdict.SELECTOR_ERROR], "selection", "records without a usable selected key or witness"),
        (verdicts[Verdict.RESOLUTION_ERROR], "resolver", "records that select a key it does not know"),
        (verdicts[Verdict.UNVERIFIABLE], "logging", "records without a usable list of returned IDs"),
        (malformed, "logging", "lines that are no observation"),
        (contradicting, "run assembly", "handoffs that say they are under other terms than the declaration's"),
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
    accounts = report.accounts
    for title, names in (
        ("missing", accounts.missing),
        ("observed more than once", accounts.duplicates),
        ("unexpected", accounts.unexpected),
    ):
        yield from _listed(title, [printable(name) for name in names])
    malformed = sorted(accounts.counts.malformed)
    yield from _listed("no observation", [printable(f"{item.file}:{item.line}: {item.reason}") for item in malformed])
    faults = [printable(f"{fault.code} at {fault.path or 'the document'}: {fault.message}") for fault in report.faults]
    yield from _listed("faults of the declaration", faults, most=len(faults))


def _listed(title: str, names: Sequence[str], *, most: int = _MOST_LISTED) -> Iterator[str]:
    if not names:
        return
    yield f"{title}:"
    for name in names[:most]:
        yield f"  {name}"
    if len(names) > most:
        yield f"  and {len(names) - most:,} more (in the JSON report)"


def _diagnostics(shape: Mapping[str, Any] | None) -> Iterator[str]:
    if shape is None:
        return
    if shape.get("evaluable"):
        yield f"in hard mode {shape['pass_fraction']:.4f} of {shape['evaluable']:,} evaluable records would pass"
    if shape["past_cutoff"] or shape["absent"]:
        past, absent = shape["past_cutoff"], shape["absent"]
        yield f"misses: {past:,} past the cutoff, {absent:,} absent from the recorded list"
    held = [f"@{k} {at['fraction']:.4f}" for k, at in shape["membership"].items() if at["fraction"] is not None]
    if held:
        yield "membership: " + "  ".join(held)
    for k, joint in shape.get("trace", {}).items():
        counts = "  ".join(f"{name.replace('_', ' ')} {count:,}" for name, count in joint.items())
        yield f"selected and traced @{k}: {counts}"
