"""Which planned rows enter the deletion study, and what the reader is shown of each in each arm."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from rop_otel.errors import InputError
from rop_otel.safety.digested_files import Digest
from rop_otel.study.frozen_lists import FrozenLists
from rop_otel.study.json_rows import read_rows
from rop_otel.study.omission.answer_scores import normalise_answer
from rop_otel.study.omission.shown_passages import Passage

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


def read_items(frozen: FrozenLists, corpus: Iterable[str], *, form: str, rule: str, at: int) -> Items:
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
    questions = {(row["id"], row["selector"]): row for row in frozen.rows("questions.jsonl")}
    rankings = {(row["id"], row["selector"]): row for row in frozen.ranking(form, rule)}
    if list(questions) != list(rankings):
        raise InputError(f"the rows of {form}.{rule} are not those of questions.jsonl", file=str(frozen.folder))
    left_out: dict[str, list[tuple[str, str]]] = {reason: [] for reason in LEFT_OUT}
    kept = []
    for key, row in questions.items():
        reason = _why_not(row, rankings[key], at)
        if reason is None:
            kept.append((row, rankings[key]["ids"][:at]))
        else:
            left_out[reason].append(key)
    inputs: list[dict[str, Any]] = []
    passages = _read_passages(frozen, corpus, {name for _, ids in kept for name in ids}, inputs)
    items = tuple(_item(row, [passages[name] for name in ids]) for row, ids in kept)
    return Items(planned=len(questions), items=items, left_out=left_out, inputs=inputs)


def _why_not(row: Mapping[str, Any], ranking: Mapping[str, Any], at: int) -> str | None:
    """Return why a planned row is no item, None where it is one."""
    selected, answer = row["selected_id"], row.get("answer")
    if not row["question"]:
        return "no_question"
    if selected is None:
        return "no_selection"
    if ranking["ids"] is None:
        return "no_ranking"
    if not isinstance(answer, str) or not normalise_answer(answer):
        return "no_answer"
    if row["gold_ids"] and selected not in row["gold_ids"]:
        return "target_differs"
    return None if selected in ranking["ids"][:at] else "selected_not_shown"


def _item(row: Mapping[str, Any], shown: list[Passage]) -> Item:
    selected = next(passage for passage in shown if passage.id == row["selected_id"])
    others = [passage for passage in shown if passage.id != selected.id]
    answer = normalise_answer(row["answer"])
    holding = {passage.id for passage in others if answer in normalise_answer(passage.rendered)}
    arms: dict[Arm, tuple[Passage, ...]] = {"intact": tuple(shown), "trace_drop": tuple(others)}
    sham = min(
        (passage for passage in others if passage.id not in holding and passage.id not in row["gold_ids"]),
        key=lambda passage: abs(
            len(passage.rendered) - len(selected.rendered)
        ),  # the earlier one where two are as near
        default=None,
    )
    if sham is not None:
        arms["sham_drop"] = tuple(passage for passage in shown if passage.id != sham.id)
    return Item(
        id=row["id"],
        selector=row["selector"],
        question=row["question"],
        answer=row["answer"],
        arms=arms,
        answer_elsewhere=bool(holding),
        text_elsewhere=any(passage.text == selected.text for passage in others),
    )


def _read_passages(
    frozen: FrozenLists, corpus: Iterable[str], wanted: set[str], inputs: list[dict[str, Any]]
) -> dict[str, Passage]:
    """Return the wanted pages, whose texts are those that were ranked."""
    hashes = {row["id"]: row["text_sha256"] for row in frozen.rows("pages.jsonl") if row["id"] in wanted}
    found: dict[str, Passage] = {}
    files = list(corpus)
    for file in files:
        digest = Digest()
        for line, row in read_rows(file, digest):
            key = row.get("id")
            if key not in wanted:
                continue
            if not all(isinstance(row.get(name), str) for name in ("title", "text")):
                raise InputError("a page has to have an id, a title and a text", file=file, line=line)
            if key in found:
                raise InputError(f"the id {key!r} is there twice", file=file, line=line)
            if hashlib.sha256(row["text"].encode("utf-8", "surrogatepass")).hexdigest() != hashes.get(key):
                raise InputError(f"the text of {key!r} is not the one that was ranked", file=file, line=line)
            found[key] = Passage(id=key, title=row["title"], text=row["text"])
        inputs.append({"name": file.rpartition("/")[2], "bytes": digest.bytes, "sha256": digest.sha256})
    lacking = sorted(wanted - found.keys())
    if lacking:
        raise InputError(f"lacks {len(lacking):,} pages of the rankings, {lacking[0]!r} first", file=", ".join(files))
    return found
