"""The report of a deletion study in words and columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

NAMES: Final = {"intact": "Intact", "trace_drop": "Trace-drop", "sham_drop": "Sham-drop"}
_SCORES: Final = {"exact": "Exact match", "f1": "Token F1"}
_ROWS: Final = {
    "items": "Items",
    "scheduled": "Scheduled calls",
    "requests": "Requests, with retries",
    "valid": "Valid calls",
    "failed": "Failed calls",
    "same_answer": "Items: every repeat valid and the same",
    "majority_exact": "Items: most repeats exact",
}


def report_lines(report: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines of a report."""
    accounting = report["accounting"]
    yield f"Reader: {report['answered_by']['name']}. {report['answered_by']['note']}"
    yield ""
    yield f"{accounting['planned']:>8,}  planned rows"
    for reason, rows in accounting["left_out"].items():
        yield f"{rows['rows']:>8,}  left out as {reason}: {rows['why']}"
    yield f"{accounting['items']:>8,}  items, of {accounting['questions']:,} questions"
    yield f"{len(accounting['without_sham']):>8,}  of them have no passage to drop in place of the selected one"
    yield f"{accounting['answer_in_another_passage']:>8,}  have the answer in another shown passage, too"
    yield f"{accounting['same_text_in_another_passage']:>8,}  have the selected passage's text under another ID, too"
    yield ""
    yield from _calls(report["arms"])
    for score, title in _SCORES.items():
        yield ""
        yield from _contrasts(title, [each for each in report["contrasts"] if each["score"] == score])
    yield ""
    yield from _bootstrap(report)
    if report["association"] is not None:
        yield ""
        yield from _association(report["association"])


def _calls(arms: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    yield f"{'Calls':<40}" + "".join(f"{NAMES[arm]:>12}" for arm in arms)
    for name, title in _ROWS.items():
        yield f"{title:<40}" + "".join(f"{arms[arm][name]:>12,}" for arm in arms)
    for arm, account in arms.items():
        for reason, count in account["failures"].items():
            yield f"  {NAMES[arm]}: {count:,} × {reason}"


def _contrasts(title: str, contrasts: list[Mapping[str, Any]]) -> Iterator[str]:
    yield f"{title:<24}{'items':>7}{'means':>16}{'difference [95 %]':>30}{'if failed calls go the other way':>36}"
    for each in contrasts:
        name = f"{NAMES[each['first']]} / {NAMES[each['second']]}"
        means = f"{_points(each['first_mean'])} / {_points(each['second_mean'])}"
        bounds = f"{_points(each['lowest'])} to {_points(each['highest'])}"
        yield f"{name:<24}{each['items']:>7,}{means:>16}{_with_interval(each):>30}{bounds:>36}"


def _bootstrap(report: Mapping[str, Any]) -> Iterator[str]:
    accounting, bootstrap = report["accounting"], report["bootstrap"]
    single = " Every question has one row." if accounting["items"] == accounting["questions"] else ""
    yield (
        "Points of 100. A call that failed scores 0 in its planned cell. Intervals:"
        f" {bootstrap['draws']:,} draws of the questions, seed {bootstrap['seed']}.{single}"
    )


def _association(pairs: list[Mapping[str, Any]]) -> Iterator[str]:
    yield "Recorded answers, where one ranking shows the selected passage and the other does not: an association only,"
    yield "since the rankings differ in other passages, too."
    for each in pairs:
        yield (
            f"{' / '.join(each['pair'])}: n {each['n']:,}, exact {_points(each['return_exact'])} with it,"
            f" {_points(each['omit_exact'])} without, difference {_with_interval(each)};"
            f" {each['without_answer']:,} without a recorded answer"
        )


def _with_interval(each: Mapping[str, Any]) -> str:
    if each["interval"] is None:
        return "–"
    low, high = each["interval"]
    return f"{_points(each['difference'])} [{_points(low)}, {_points(high)}]"


def _points(value: float | None) -> str:
    """Return a share in points of 100.

    >>> _points(0.776), _points(-0.0004), _points(None)
    ('77.6', '0.0', '–')
    """
    return "–" if value is None else f"{round(value * 100, 1) + 0.0:.1f}"
