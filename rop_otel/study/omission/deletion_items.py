"""Which planned rows enter the deletion study, and what the reader is shown of each in each arm."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

from rop_otel.errors import InputError
from rop_otel.safety.digested_files import Digest
from rop_otel.safety.json_lines import read_objects
from rop_otel.study.frozen_files import PAGES_FILE, decode_object
from rop_otel.study.frozen_study import RankingName, Study
from rop_otel.study.omission.answer_scores import normalise_answer
from rop_otel.study.omission.shown_passages import Passage
from rop_otel.study.planned_rows import PlannedRow

Arm = Literal["intact", "trace_drop", "sham_drop"]
ARMS: Final[tuple[Arm, ...]] = ("intact", "trace_drop", "sham_drop")

LEFT_OUT: Final = {
    "no_question": "the record has no question",
    "no_selection": "nothing was selected",
    "no_ranking": "the row could not be ranked",
    "no_answer": "there is no reference answer to score by",
    "target_differs": "the selected object is not the one that the dataset traced",
    "selected_not_shown": "the selected passage is not among those shown, so that it cannot be taken away",
}
"""Why a planned row is no item, in the order in which that is decided."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One planned row whose selected passage is shown.

    Args:
        id: The question's ID.
        selector: Who selected.
        question: Its text.
        answer: The reference answer.
        arms: What is shown in each arm; without ``sham_drop`` where no passage can be dropped in place of the selected.
        answer_elsewhere: Whether another passage that is shown holds the answer, too.
        text_elsewhere: Whether another passage that is shown has the very text of the selected one.
    """

    id: str
    selector: str
    question: str
    answer: str
    arms: Mapping[Arm, tuple[Passage, ...]]
    answer_elsewhere: bool
    text_elsewhere: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Items:
    """The items, and every planned row that is none.

    Args:
        planned: How many rows were planned.
        items: In the order of the plan.
        left_out: ``(id, selector)`` of the others, by reason.
        inputs: Name, bytes and SHA-256 of the corpus files.
    """

    planned: int
    items: tuple[Item, ...]
    left_out: dict[str, list[tuple[str, str]]]
    inputs: list[dict[str, Any]] = field(default_factory=list)


def read_items(frozen: Study, corpus: Iterable[str], *, form: str, rule: str, at: int) -> Items:
    """Build the items of one query form and rule.

    Args:
        frozen: The rankings.
        corpus: Files of pages, for the texts.
        form: Query form.
        rule: Handoff rule.
        at: How many passages the reader is shown.

    Raises:
        InputError: A file cannot be read, the rankings are not of these questions, or the corpus is not theirs.
    """
    rankings = ranked_ids(frozen, RankingName(form, rule))
    left_out: dict[str, list[tuple[str, str]]] = {reason: [] for reason in LEFT_OUT}
    kept = []
    for row in frozen.rows:
        ids = rankings[row.key]
        reason = _why_not(row, ids, at)
        if reason is None and ids is not None:
            kept.append((row, ids[:at]))
        elif reason is not None:
            left_out[reason].append((row.id, row.selector))
    inputs: list[dict[str, Any]] = []
    passages = _read_passages(frozen, corpus, {name for _, ids in kept for name in ids}, inputs)
    items = tuple(_item(row, [passages[name] for name in ids]) for row, ids in kept)
    return Items(planned=len(frozen.rows), items=items, left_out=left_out, inputs=inputs)


def ranked_ids(frozen: Study, name: RankingName) -> dict[tuple[str, str], list[str] | None]:
    """Return what a ranking has of every planned row, by selector and question; None where nothing was run.

    Raises:
        InputError: It is not there, has changed, or has not the planned rows.
    """
    place = frozen.files.place(name.file)
    found: dict[tuple[str, str], list[str] | None] = {}
    for row in frozen.ranked_rows(name):
        if row.ids is not None and not (isinstance(row.ids, list) and all(isinstance(each, str) for each in row.ids)):
            raise InputError(f"the ranking of {row.id!r} is no list of IDs", file=place)
        if (row.selector, row.id) in found:
            raise InputError(f"the row {row.id!r} of selector {row.selector!r} is there twice", file=place)
        found[row.selector, row.id] = row.ids
    if found.keys() != {row.key for row in frozen.rows}:
        raise InputError("its rows are not the planned ones", file=place)
    return found


def answer_of(row: PlannedRow) -> str | None:
    """Return the reference answer of a row, None where it has none that anything could match."""
    answer = row.fields.get("answer")
    return answer if isinstance(answer, str) and normalise_answer(answer) else None


def _why_not(row: PlannedRow, ids: list[str] | None, at: int) -> str | None:
    """Return why a planned row is no item, None where it is one."""
    if not row.fields.get("question"):
        return "no_question"
    if row.selected_id is None:
        return "no_selection"
    if ids is None:
        return "no_ranking"
    if answer_of(row) is None:
        return "no_answer"
    if row.gold_ids and row.selected_id not in row.gold_ids:
        return "target_differs"
    return None if row.selected_id in ids[:at] else "selected_not_shown"


def _item(row: PlannedRow, shown: list[Passage]) -> Item:
    reference = answer_of(row) or ""
    selected = next(passage for passage in shown if passage.id == row.selected_id)
    others = [passage for passage in shown if passage.id != selected.id]
    answer = normalise_answer(reference)
    holding = {passage.id for passage in others if answer in normalise_answer(passage.rendered)}
    arms: dict[Arm, tuple[Passage, ...]] = {"intact": tuple(shown), "trace_drop": tuple(others)}
    sham = min(
        (passage for passage in others if passage.id not in holding and passage.id not in row.gold_ids),
        key=lambda passage: abs(
            len(passage.rendered) - len(selected.rendered)
        ),  # the earlier one where two are as near
        default=None,
    )
    if sham is not None:
        arms["sham_drop"] = tuple(passage for passage in shown if passage.id != sham.id)
    return Item(
        id=row.id,
        selector=row.selector,
        question=row.fields["question"],
        answer=reference,
        arms=arms,
        answer_elsewhere=bool(holding),
        text_elsewhere=any(passage.text == selected.text for passage in others),
    )


def _read_passages(
    frozen: Study, corpus: Iterable[str], wanted: set[str], inputs: list[dict[str, Any]]
) -> dict[str, Passage]:
    """Return the wanted pages, whose texts are those that were ranked."""
    place = frozen.files.place(PAGES_FILE)
    pages = (decode_object(line, file=place, line=number) for number, line in frozen.files.lines(PAGES_FILE))
    hashes = {page["id"]: page.get("text_sha256") for page in pages if page["id"] in wanted}
    found: dict[str, Passage] = {}
    files = list(corpus)
    for file in files:
        digest = Digest()
        for line, row in read_objects(Path(file), digest=digest):
            key = row.get("id")
            if key not in wanted:
                continue
            if not all(isinstance(row.get(name), str) for name in ("title", "text")):
                raise InputError("a page has to have an id, a title and a text", file=file, line=line)
            if hashlib.sha256(row["text"].encode("utf-8", "surrogatepass")).hexdigest() != hashes.get(key):
                raise InputError(f"the text of {key!r} is not the one that was ranked", file=file, line=line)
            passage = Passage(id=key, title=row["title"], text=row["text"])
            if found.setdefault(key, passage) != passage:
                raise InputError(f"the id {key!r} is there twice, with another title", file=file, line=line)
        inputs.append({"name": file.rpartition("/")[2], "bytes": digest.bytes, "sha256": digest.sha256})
    lacking = sorted(wanted - found.keys())
    if lacking:
        raise InputError(f"lacks {len(lacking):,} pages of the rankings, {lacking[0]!r} first", file=", ".join(files))
    return found
