"""Joint outcomes: whether the same returned IDs hold a record's selected object and the dataset's judged ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from rop_otel.core.profile.record_ranking import rank_of_any
from rop_otel.core.profile.resolver import Resolver


class Agreement(StrEnum):
    """How a selection relates to the judged objects G. The first that applies counts, in another order than here."""

    SAME = "same"
    DIFFERENT = "different"
    NO_TRACE = "no_trace"
    UNRESOLVABLE = "unresolvable"


class Compared(NamedTuple):
    """A record that passes or fails, compared.

    Args:
        agreement: How its selection relates to G.
        rank: Its rank; 0 where the rule holds on no prefix.
        trace_rank: The length of the shortest prefix that holds a member of G; 0 where none does, or G is not known.
    """

    agreement: Agreement
    rank: int
    trace_rank: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcomes:
    """Records by what the reader sees: the rule for the selection, any of the judged objects.

    Args:
        both: Both hold.
        selected_only: Only the rule does.
        trace_only: Only a judged object is there.
        neither: Neither.
    """

    both: int = 0
    selected_only: int = 0
    trace_only: int = 0
    neither: int = 0

    def __add__(self, other: Outcomes) -> Outcomes:
        return Outcomes(
            both=self.both + other.both,
            selected_only=self.selected_only + other.selected_only,
            trace_only=self.trace_only + other.trace_only,
            neither=self.neither + other.neither,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class AtCutoff:
    """Outcomes at one cutoff.

    Args:
        same: Of the records whose selection is in G.
        different: Of those whose selection is not.
    """

    same: Outcomes = Outcomes()
    different: Outcomes = Outcomes()

    def __add__(self, other: AtCutoff) -> AtCutoff:
        return AtCutoff(same=self.same + other.same, different=self.different + other.different)


@dataclass(frozen=True, slots=True, kw_only=True)
class Joint:
    """The joint outcomes of a run.

    Args:
        agreement: Records that pass or fail by agreement, every one of them.
        at: By cutoff; what is added has the same cutoffs.
    """

    agreement: Mapping[Agreement, int]
    at: Mapping[int, AtCutoff]

    def __add__(self, other: Joint) -> Joint:
        return Joint(
            agreement={each: self.agreement.get(each, 0) + other.agreement.get(each, 0) for each in Agreement},
            at={cutoff: here + other.at[cutoff] for cutoff, here in self.at.items()},
        )


class JointCounter:
    """Counts compared records.

    Args:
        cutoffs: Where outcomes are counted.
    """

    def __init__(self, cutoffs: Sequence[int]) -> None:
        self._cutoffs = cutoffs
        self._agreement: Counter[Agreement] = Counter()
        self._outcomes: Counter[tuple[int, Agreement, bool, bool]] = Counter()

    def add(self, compared: Iterable[Compared]) -> None:
        """Count records."""
        for (agreement, rank, trace_rank), count in Counter(compared).items():
            self._agreement[agreement] += count
            for cutoff in self._cutoffs:
                self._outcomes[cutoff, agreement, 0 < rank <= cutoff, 0 < trace_rank <= cutoff] += count

    def joint(self) -> Joint:
        """Return what has been counted."""
        return Joint(
            agreement={each: self._agreement[each] for each in Agreement},
            at={
                cutoff: AtCutoff(same=self._at(cutoff, Agreement.SAME), different=self._at(cutoff, Agreement.DIFFERENT))
                for cutoff in self._cutoffs
            },
        )

    def _at(self, cutoff: int, agreement: Agreement) -> Outcomes:
        counted = self._outcomes
        return Outcomes(
            both=counted[cutoff, agreement, True, True],
            selected_only=counted[cutoff, agreement, True, False],
            trace_only=counted[cutoff, agreement, False, True],
            neither=counted[cutoff, agreement, False, False],
        )

    def copy(self) -> JointCounter:
        """Return another that stands as this one does."""
        other = JointCounter(self._cutoffs)
        other._agreement, other._outcomes = self._agreement.copy(), self._outcomes.copy()
        return other


class Comparison:
    """Compares selections with judged objects.

    Args:
        resolver: The identity resolver.
    """

    def __init__(self, resolver: Resolver) -> None:
        self._strings = _Strings(resolver)

    def compare(self, selected: Collection[str], traced: object, ids: Sequence[str], *, rank: int) -> Compared:
        """Compare a record that passes or fails.

        Args:
            selected: The selected keys, each known to the resolver.
            traced: Whatever the record holds where its judged objects are due.
            ids: The returned IDs.
            rank: Its rank; 0 where the rule holds on no prefix.
        """
        given = traced if isinstance(traced, list) else [traced]
        keys = [key for key in given if isinstance(key, str) and key]
        if not keys or len(keys) < len(given):
            return Compared(Agreement.NO_TRACE, rank, 0)
        groups = {*map(self._strings.__getitem__, keys)}
        if None in groups:
            return Compared(Agreement.UNRESOLVABLE, rank, 0)
        wanted = groups.pop() if len(groups) == 1 else frozenset().union(*groups)
        agreement = Agreement.DIFFERENT if wanted.isdisjoint(selected) else Agreement.SAME
        return Compared(agreement, rank, rank_of_any(wanted, ids))


class _Strings(dict[str, frozenset[str]]):
    """Every string of a key's object, by key, as far as they were asked for; None for a key that nobody knows."""

    def __init__(self, resolver: Resolver) -> None:
        super().__init__()
        self._resolver = resolver

    def __missing__(self, key: str) -> frozenset[str] | None:
        name = self._resolver.resolve(key)
        if name is None:
            return None
        found = self[key] = frozenset(self._resolver.strings(name)) if name == key else self[name]
        return found
