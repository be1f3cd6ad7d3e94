"""Whether answers recorded before are better where the selected passage was shown: the paper's Table 9.

An association only: two rankings differ in more than one passage.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

from rop_otel.errors import InputError
from rop_otel.safety.json_lines import read_objects
from rop_otel.study.frozen_study import RankingName, Study
from rop_otel.study.intervals import Bootstrap
from rop_otel.study.omission.answer_scores import exact_match
from rop_otel.study.omission.deletion_items import answer_of, ranked_ids
from rop_otel.study.planned_rows import PlannedRow

Key = tuple[str, str]
Rows = Mapping[Key, PlannedRow]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pair:
    """A row of which one ranking shows the selected passage and another does not."""

    key: Key
    shown: RankingName
    omitted: RankingName


def associations(frozen: Study, files: Iterable[str], *, at: int, bootstrap: Bootstrap) -> list[dict[str, Any]]:
    """Compare, for each two rankings with recorded answers, the one that shows the selected passage with the other.

    A row counts where its selected object is the traced one, both rankings have at least so many passages, and exactly
    one of them shows the selected passage.

    Args:
        frozen: The rankings.
        files: JSON Lines of ``{id, selector?, form, rule, answer}``; an answer of null is a call that failed, and
            scores zero.
        at: How many passages the reader was shown.
        bootstrap: Over questions.

    Raises:
        InputError: A file or line cannot be used, or names a row or ranking that was not planned.
    """
    rows = {row.key: row for row in frozen.rows}
    answers = _read_answers(files, rows)
    shown = {name: ranked_ids(frozen, name) for name in sorted(answers)}
    aligned = {key: row for key, row in rows.items() if row.selected_id in row.gold_ids and answer_of(row)}
    found = []
    for one, other in combinations(sorted(answers), 2):
        pairs = list(_pairs(aligned, {one: shown[one], other: shown[other]}, at))
        answered = [pair for pair in pairs if all(pair.key in answers[part] for part in (pair.shown, pair.omitted))]
        found.append(
            {
                "pair": [".".join(one), ".".join(other)],
                "n": len(answered),
                "without_answer": len(pairs) - len(answered),
                **_compared(answered, aligned, answers, bootstrap=bootstrap),
            }
        )
    return found


def _pairs(rows: Rows, lists: Mapping[RankingName, Mapping[Key, list[str] | None]], at: int) -> Iterator[_Pair]:
    one, other = lists
    for key, row in rows.items():
        first, second = lists[one][key], lists[other][key]
        if first is None or second is None or min(len(first), len(second)) < at:
            continue
        by_first, by_second = row.selected_id in first[:at], row.selected_id in second[:at]
        if by_first != by_second:
            yield _Pair(key=key, shown=one if by_first else other, omitted=other if by_first else one)


def _compared(
    pairs: list[_Pair], rows: Rows, answers: Mapping[RankingName, Mapping[Key, str | None]], *, bootstrap: Bootstrap
) -> dict[str, Any]:
    def score(part: RankingName, key: Key) -> float:
        answer = answers[part][key]
        return 0.0 if answer is None else exact_match(answer, answer_of(rows[key]) or "")

    returned = [score(pair.shown, pair.key) for pair in pairs]
    omitted = [score(pair.omitted, pair.key) for pair in pairs]
    differences = [one - other for one, other in zip(returned, omitted, strict=True)]
    clusters = [pair.key[1] for pair in pairs]
    (interval,) = bootstrap.intervals(clusters, [differences])
    return {
        "questions": len(set(clusters)),
        "return_exact": _mean(returned),
        "omit_exact": _mean(omitted),
        "difference": _mean(differences),
        "interval": interval and [round(bound, 6) for bound in interval],
    }


def _mean(values: list[float]) -> float | None:
    return round(sum(values) / len(values), 6) if values else None


def _read_answers(files: Iterable[str], rows: Rows) -> dict[RankingName, dict[Key, str | None]]:
    answers: dict[RankingName, dict[Key, str | None]] = {}
    for file in files:
        for line, row in read_objects(Path(file)):
            match row:
                case {"id": str(key), "form": str(form), "rule": str(rule), "answer": (str() | None) as answer}:
                    selector = row.get("selector", "default")
                case _:
                    raise InputError("an answer has to have an id, a form, a rule and an answer", file=file, line=line)
            if (selector, key) not in rows:
                raise InputError(f"no planned row has the id {key!r} and selector {selector!r}", file=file, line=line)
            part = answers.setdefault(RankingName(form, rule), {})
            if (selector, key) in part:
                raise InputError(f"the answer of {key!r} by {form}.{rule} is there twice", file=file, line=line)
            part[selector, key] = answer
    return answers
