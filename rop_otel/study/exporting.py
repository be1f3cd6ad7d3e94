"""Frozen rankings written for the tools of others: run files of TREC and of ranx."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Literal

from rop_otel.errors import InputError
from rop_otel.study.frozen_study import RankedRow, RankingName, read_study
from rop_otel.study.importing.written_files import json_document, write_file

RunFormat = Literal["trec", "ranx"]


@dataclass(slots=True)
class Exported:
    """What an export did.

    Args:
        rows: Rankings that were written.
        left_out: Planned rows without a ranking, by reason.
        renumbered: Rankings with scores that do not fall from rank to rank, so that others would order them by ID
            instead: their scores are the number of documents from there on.
    """

    rows: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    renumbered: int = 0


def export_run(folder: Path, out: Path, *, kind: RunFormat, form: str, rule: str, selector: str | None) -> Exported:
    """Write the rankings of one query form, rule and selector as a run.

    Args:
        folder: Frozen rankings.
        out: The file to write.
        kind: The format.
        form: Query form.
        rule: Handoff rule.
        selector: Whose rows; None where there is only one.

    Raises:
        InputError: The folder lacks them, has several selectors and none was named, or an ID cannot be written.
    """
    rows = list(read_study(str(folder)).ranked_rows(RankingName(form, rule)))
    selectors = sorted({row.selector for row in rows})
    if selector is None and len(selectors) > 1:
        raise InputError(f"holds several selectors, name one: {', '.join(selectors)}", file=str(folder))
    if selector is not None and selector not in selectors:
        raise InputError(f"holds no selector {selector!r} but: {', '.join(selectors)}", file=str(folder))
    found = Exported()
    rankings = _scored([row for row in rows if selector in (None, row.selector)], found, str(folder))
    if kind == "ranx":
        write_file(out, [json_document(dict(rankings))])
    else:
        write_file(out, _trec_lines(rankings, f"{form}.{rule}", str(folder)))
    return found


def _scored(rows: Iterable[RankedRow], found: Exported, folder: str) -> Iterator[tuple[str, dict[str, float]]]:
    """Yield each query with its documents, best first, and scores that fall with them."""
    for row in rows:
        if row.ids is None:
            found.left_out[str(row.reason)] += 1
            continue
        ids, scores = row.ids, row.scores
        if len(set(ids)) < len(ids):
            raise InputError(f"the ranking of {row.id!r} names a page twice, which no run can hold", file=folder)
        if any(one <= other for one, other in pairwise(scores)):
            found.renumbered += 1
            scores = [float(len(ids) - place) for place in range(len(ids))]
        found.rows += 1
        yield row.id, dict(zip(ids, scores, strict=True))


def _trec_lines(rankings: Iterable[tuple[str, dict[str, float]]], tag: str, folder: str) -> Iterator[bytes]:
    for query, documents in rankings:
        for rank, (name, score) in enumerate(documents.items(), 1):
            for each in (query, name):
                if not each or any(char.isspace() for char in each):
                    raise InputError(f"the id {each!r} has blanks, which a run of TREC cannot hold", file=folder)
            yield f"{query} Q0 {name} {rank} {score!r} {tag}\n".encode()
