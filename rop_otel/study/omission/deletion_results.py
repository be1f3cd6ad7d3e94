"""What the calls of a deletion study come to: an account of every call, and the contrasts between arms."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from rop_otel.study.intervals import Bootstrap
from rop_otel.study.omission.answer_scores import exact_match, normalise_answer, token_f1
from rop_otel.study.omission.deletion_items import Arm, Item
from rop_otel.study.omission.reader_calls import Outcome

CONTRASTS: Final[tuple[tuple[Arm, Arm], ...]] = (
    ("intact", "trace_drop"),
    ("sham_drop", "trace_drop"),
    ("intact", "sham_drop"),
)
SCORES: Final = {"exact": exact_match, "f1": token_f1}
_DIGITS: Final = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """An item with the outcomes of its repetitions in each of its arms."""

    item: Item
    outcomes: Mapping[Arm, tuple[Outcome, ...]]

    def mean(self, arm: Arm, score: str, *, failed: float = 0.0) -> float:
        """Return the mean score over all planned repetitions; a call that failed scores what is said."""
        each = SCORES[score]
        values = [
            failed if outcome.answer is None else each(outcome.answer, self.item.answer)
            for outcome in self.outcomes[arm]
        ]
        return sum(values) / len(values)


def account_of(arm: Arm, answered: Sequence[Answered]) -> dict[str, Any]:
    """Return the account of one arm's calls, as the paper's Table 21, and its mean scores over all planned cells."""
    having = [each for each in answered if arm in each.outcomes]
    outcomes = [outcome for each in having for outcome in each.outcomes[arm]]
    failures = Counter(outcome.failure for outcome in outcomes if outcome.answer is None)
    return {
        "items": len(having),
        "scheduled": len(outcomes),
        "requests": sum(outcome.requests for outcome in outcomes),
        "valid": len(outcomes) - failures.total(),
        "failed": failures.total(),
        "failures": {str(reason): count for reason, count in sorted(failures.items(), key=lambda each: str(each[0]))},
        "same_answer": sum(_is_stable(each.outcomes[arm]) for each in having),
        "majority_exact": sum(each.mean(arm, "exact") > 1 / 2 for each in having),
        **{score: _rounded(_mean(each.mean(arm, score) for each in having)) for score in SCORES},
    }


def contrasts_of(answered: Sequence[Answered], *, bootstrap: Bootstrap) -> list[dict[str, Any]]:
    """Return each contrast of two arms, over the items that have both.

    ``lowest`` and ``highest`` are the difference where every failed call is scored against it, and in its favour.
    """
    found = []
    for score in SCORES:
        for first, second in CONTRASTS:
            having = [each for each in answered if {first, second} <= each.outcomes.keys()]
            differences = [each.mean(first, score) - each.mean(second, score) for each in having]
            (interval,) = bootstrap.intervals([each.item.id for each in having], [differences])
            found.append(
                {
                    "score": score,
                    "first": first,
                    "second": second,
                    "items": len(having),
                    "questions": len({each.item.id for each in having}),
                    "first_mean": _rounded(_mean(each.mean(first, score) for each in having)),
                    "second_mean": _rounded(_mean(each.mean(second, score) for each in having)),
                    "difference": _rounded(_mean(differences)),
                    "interval": interval and [_rounded(bound) for bound in interval],
                    "lowest": _rounded(
                        _mean(each.mean(first, score) - each.mean(second, score, failed=1.0) for each in having)
                    ),
                    "highest": _rounded(
                        _mean(each.mean(first, score, failed=1.0) - each.mean(second, score) for each in having)
                    ),
                }
            )
    return found


def _is_stable(outcomes: Sequence[Outcome]) -> bool:
    """Return whether every repetition gave a valid answer, and all the same once normalised."""
    answers = {None if outcome.answer is None else normalise_answer(outcome.answer) for outcome in outcomes}
    return len(answers) == 1 and None not in answers


def _mean(values: Iterable[float]) -> float | None:
    listed = list(values)
    return sum(listed) / len(listed) if listed else None


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, _DIGITS)
