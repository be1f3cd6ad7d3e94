"""The deletion study: take the selected passage away, or another in its place, and see what becomes of the answer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from rop_otel.errors import InputError
from rop_otel.study.folder_lock import only_writer
from rop_otel.study.frozen_study import Study
from rop_otel.study.importing.written_files import json_document, write_file
from rop_otel.study.intervals import Bootstrap
from rop_otel.study.omission.association import associations
from rop_otel.study.omission.call_journal import Journal, Key
from rop_otel.study.omission.deletion_items import ARMS, LEFT_OUT, Items, read_items
from rop_otel.study.omission.deletion_results import Answered, account_of, contrasts_of
from rop_otel.study.omission.reader_calls import Call, Outcome, Policy, Reader, plan_calls, run_calls
from rop_otel.study.tables.table_context import check_cutoff
from rop_otel.version import installed_version

REPORT: Final = "report.json"
Progress = Callable[[int, int], None]
"""Called with the calls done so far and in all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deletion:
    """What is asked.

    Args:
        form: Query form of the rankings.
        rule: Their handoff rule.
        at: How many passages the reader is shown.
        repeats: How often each item is asked in each arm.
        bootstrap: Over questions.
        retry_failed: Whether calls that failed before are made again.
    """

    form: str
    rule: str
    at: int = 5
    repeats: int = 3
    bootstrap: Bootstrap = field(default_factory=Bootstrap)
    retry_failed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Described:
    """What a report says of a reader, beside its answers.

    Args:
        name: What it is called.
        settings: What decides its answers, as far as that is known.
        note: A sentence for whoever reads the report.
    """

    name: str
    settings: dict[str, Any]
    note: str


def run_deletion(
    frozen: Study,
    corpus: Iterable[str],
    asked: Deletion,
    *,
    create_reader: Callable[[Items], Reader],
    described: Described,
    policy: Policy,
    out: Path,
    answers: Sequence[str] = (),
    progress: Progress = lambda done, of: None,
) -> dict[str, Any]:
    """Make every planned call that is still missing, and write the report.

    Args:
        frozen: The rankings.
        corpus: Files of pages, for the texts.
        asked: What is asked.
        create_reader: Makes the reader, from the items that it will be shown.
        described: What the report says of it.
        policy: How it is asked.
        out: The folder of ``plan.json``, ``calls.jsonl`` and ``report.json``.
        answers: Files of recorded answers; with any the report has the association, too.
        progress: Called with the calls done so far and in all.

    Returns:
        The report.

    Raises:
        InputError: A file cannot be used, no row can be asked, the folder holds another study, or another process
            writes to it.
        ConfigurationError: The reader cannot be asked at all, or is to be shown more than was stored.
    """
    check_cutoff(asked.at, frozen.depth)
    items = read_items(frozen, corpus, form=asked.form, rule=asked.rule, at=asked.at)
    if not items.items:
        reasons = ", ".join(f"{len(rows):,} {reason}" for reason, rows in items.left_out.items() if rows)
        raise InputError(f"no planned row can be asked: {reasons or 'none was planned'}", file=frozen.files.folder)
    association = _associations(frozen, answers, asked) if answers else None
    calls = plan_calls(items.items, asked.repeats)
    plan = _plan(frozen, items, asked, described, policy)
    with only_writer(out), Journal(out, plan) as journal:
        outcomes = journal.kept(calls)
        missing = [call for call in calls if _is_missing(outcomes.get(call.key), asked)]
        progress(len(calls) - len(missing), len(calls))
        for done, (call, outcome) in enumerate(run_calls(missing, create_reader(items), policy), 1):
            outcomes[call.key] = _added(outcomes.get(call.key), outcome)
            journal.add(call, outcomes[call.key])
            progress(len(calls) - len(missing) + done, len(calls))
        journal.finish(calls, outcomes)
        report = _report(items, asked, described, plan, calls, outcomes) | {"association": association}
        write_file(out / REPORT, [json_document(report)])
    return report


def _associations(frozen: Study, answers: Sequence[str], asked: Deletion) -> list[dict[str, Any]]:
    return associations(frozen, answers, at=asked.at, bootstrap=asked.bootstrap)


def _is_missing(outcome: Outcome | None, asked: Deletion) -> bool:
    return outcome is None or (asked.retry_failed and outcome.answer is None)


def _added(before: Outcome | None, outcome: Outcome) -> Outcome:
    """Return the outcome of a call that was made again, with all its requests."""
    requests = outcome.requests + (before.requests if before else 0)
    return Outcome(answer=outcome.answer, failure=outcome.failure, requests=requests)


def _plan(frozen: Study, items: Items, asked: Deletion, described: Described, policy: Policy) -> dict[str, Any]:
    """Return what decides every call; a folder that was begun with another is not continued."""
    return {
        "rankings": {"form": asked.form, "rule": asked.rule, "manifest_sha256": frozen.files.sha256},
        "corpus": items.inputs,
        "at": asked.at,
        "repeats": asked.repeats,
        "attempts": policy.attempts,
        "answered_by": {"name": described.name, **described.settings},
    }


def _report(
    items: Items,
    asked: Deletion,
    described: Described,
    plan: dict[str, Any],
    calls: Sequence[Call],
    outcomes: dict[Key, Outcome],
) -> dict[str, Any]:
    by_item: dict[tuple[str, str], dict[Any, list[Outcome]]] = {}
    for call in calls:
        arms = by_item.setdefault((call.item.id, call.item.selector), {})
        arms.setdefault(call.arm, []).append(outcomes[call.key])
    answered = [
        Answered(
            item=item,
            outcomes={arm: tuple(each) for arm, each in by_item[item.id, item.selector].items()},
        )
        for item in items.items
    ]
    return {
        "rop_otel": installed_version(),
        "plan": plan,
        "answered_by": {"name": described.name, "note": described.note},
        "bootstrap": {"draws": asked.bootstrap.draws, "seed": asked.bootstrap.seed, "over": "questions"},
        "accounting": {
            "planned": items.planned,
            "items": len(items.items),
            "questions": len({item.id for item in items.items}),
            "left_out": {
                reason: {"rows": len(rows), "why": LEFT_OUT[reason], "ids": [list(row) for row in rows]}
                for reason, rows in items.left_out.items()
            },
            "without_sham": [[item.id, item.selector] for item in items.items if "sham_drop" not in item.arms],
            "answer_in_another_passage": sum(item.answer_elsewhere for item in items.items),
            "same_text_in_another_passage": sum(item.text_elsewhere for item in items.items),
        },
        "arms": {arm: account_of(arm, answered) for arm in ARMS},
        "contrasts": contrasts_of(answered, bootstrap=asked.bootstrap),
    }
