"""Whether the numbers of a partial report can all be true: of each other, of the declaration, and of its records."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TypeVar

from rop_otel.core.profile.accounts import Counts
from rop_otel.core.profile.declaration import Declaration, Opened
from rop_otel.core.profile.intake import Entry
from rop_otel.core.profile.joint import Agreement, Compared, JointCounter, Outcomes
from rop_otel.core.profile.partial import Partial
from rop_otel.core.profile.report_terms import Terms
from rop_otel.core.profile.verdicts import Verdict
from rop_otel.errors import ConfigurationError

_K = TypeVar("_K")


def contradiction_in(partial: Partial, opened: Opened) -> str | None:
    """Return the first thing that cannot be true in the numbers of a part, in one sentence; None where all can.

    Args:
        partial: The numbers.
        opened: The declaration that they belong to; one that is not valid here may have been where they were made.
    """
    return next(_contradictions(partial, opened), None)


def _contradictions(partial: Partial, opened: Opened) -> Iterator[str]:
    declaration = opened.declaration
    yield from _of_terms(partial.terms, opened)
    yield from _of_counts(partial.counts, declaration)
    yield from _of_failures(partial)
    yield from _of_joint(partial)
    yield from _of_ids(partial, declaration)
    for malformed in partial.counts.malformed:
        if malformed.line < 1:
            yield f"line {malformed.line} of {malformed.file!r} is no line"
    for each in partial.counts.inputs:
        if each.bytes < 0 or not _SHA256.fullmatch(each.sha256):
            yield f"{each.file!r} has no such size and hash"


def _of_terms(terms: Terms, opened: Opened) -> Iterator[str]:
    cutoffs, declaration = terms.cutoffs, opened.declaration
    if list(cutoffs) != sorted({*cutoffs}) or not all(cutoff > 0 for cutoff in cutoffs):
        yield "its cutoffs are not ascending, from 1 on"
    if declaration is None:
        return
    if declaration.cutoff not in cutoffs:
        yield f"the declared cutoff, {declaration.cutoff}, is none of its cutoffs"
    for what, sealed, here in (
        ("trace field", None if declaration.trace_field is None else declaration.trace_field.text, terms.trace),
        ("depth", declaration.depth, terms.depth),
    ):
        if sealed is not None and sealed != here:
            yield f"its {what} is {here!r}, the sheet's is {sealed!r}"
            return
    asked_trace = terms.trace if declaration.trace_field is None else None
    asked_depth = terms.depth if declaration.depth is None else None
    try:
        Terms.of(opened, at=cutoffs, trace=asked_trace, depth=asked_depth, near=terms.near)
    except ConfigurationError as error:
        yield str(error)


def _of_counts(counts: Counts, declaration: Declaration | None) -> Iterator[str]:
    verdicts, judged = sum(counts.verdicts.values()), sum(counts.judged.values())
    if verdicts != counts.observed:
        yield f"it counts {_shown(counts.observed)} observations and {_shown(verdicts)} verdicts"
    if judged != counts.observed and (judged or declaration is not None):
        yield f"it counts {_shown(counts.observed)} observations and {_shown(judged)} verdicts of hard mode"
    passed, failed = counts.judged.get(Verdict.PASS, 0), counts.judged.get(Verdict.FAIL, 0)
    if (ranked := sum(counts.ranks.values())) != passed + failed:
        yield f"it counts {_shown(passed + failed)} records that pass or fail and {_shown(ranked)} ranks"
    if declaration is None:
        return
    within = _held(counts, declaration.cutoff)
    if within != passed:
        yield f"it counts {_shown(passed)} records that pass and {_shown(within)} ranks within the cutoff"
    expected = _some(counts.judged) if declaration.mode == "hard" else _some({Verdict.NOT_APPLICABLE: counts.observed})
    if _some(counts.verdicts) != expected:
        yield f"its verdicts are not those of {declaration.mode} mode"


def _of_failures(partial: Partial) -> Iterator[str]:
    counts = partial.counts
    if counts.nonmatch > counts.ranks.get(0, 0) or (counts.nonmatch and partial.terms.depth is None):
        yield "it counts more lists shorter than the stored depth than can be"


def _of_joint(partial: Partial) -> Iterator[str]:
    counts, joint = partial.counts, partial.counts.joint
    if (joint is None) != (partial.terms.trace is None):
        yield "it compares judged objects without a trace field, or has one and compares none"
    if joint is None:
        return
    if {*joint.at} != {*partial.terms.cutoffs}:
        yield "it compares judged objects at other cutoffs than its own"
        return
    if sum(joint.agreement.values()) != sum(counts.ranks.values()) or min(joint.agreement.values(), default=0) < 0:
        yield "it compares judged objects on other records than pass or fail"
    before = 0
    for cutoff in partial.terms.cutoffs:
        at, held = joint.at[cutoff], _held(counts, cutoff)
        both = at.same + at.different
        if (_total(at.same), _total(at.different)) != _known(joint.agreement) or _least(at.same, at.different) < 0:
            yield "its joint outcomes do not add up to its agreement"
        if both.both + both.selected_only > held or both.trace_only + both.neither > sum(counts.ranks.values()) - held:
            yield "it compares judged objects on more records than have such ranks"
        if both.both < before:
            yield "it finds more at one cutoff than at a later one"
        before = both.both


def _known(agreement: Mapping[Agreement, int]) -> tuple[int, int]:
    return agreement.get(Agreement.SAME, 0), agreement.get(Agreement.DIFFERENT, 0)


def _total(outcomes: Outcomes) -> int:
    return outcomes.both + outcomes.selected_only + outcomes.trace_only + outcomes.neither


def _least(*several: Outcomes) -> int:
    return min(min(each.both, each.selected_only, each.trace_only, each.neither) for each in several)


def _of_ids(partial: Partial, declaration: Declaration | None) -> Iterator[str]:
    seen, repeated = partial.seen.bit_count(), partial.repeated.bit_count()
    if partial.repeated & ~partial.seen or partial.unexpected_repeated - partial.unexpected:
        yield "record IDs are observed more than once that are not observed"
    distinct = seen + len(partial.unexpected)
    again = repeated + len(partial.unexpected_repeated)
    if distinct + again > partial.counts.observed:
        yield f"it counts {_shown(partial.counts.observed)} observations of {distinct + again:,} record IDs"
    if declaration is None:
        return
    population = declaration.population
    if population is None:
        if distinct:
            yield "it accounts for a population, which the declaration does not have"
        return
    if partial.seen.bit_length() > len(population):
        yield f"it has observed more record IDs than the population's {len(population):,}"
    if not again and distinct != partial.counts.observed:
        yield f"it counts {_shown(partial.counts.observed)} observations of {distinct:,} record IDs, none repeated"
    if partial.unexpected and not partial.unexpected.isdisjoint(population):
        yield "a record ID of the population is unexpected"


class Recount:
    """The records of a part counted again.

    Args:
        opened: The declaration.
        terms: The cutoffs, trace and depth of the part.
        places: Where each record ID stands in the population, where the declaration accounts for one.
    """

    def __init__(self, opened: Opened, terms: Terms, places: Mapping[str, int] | None) -> None:
        self._places = places
        declaration = opened.declaration
        self._cutoff = None if declaration is None else declaration.cutoff
        self._hard = declaration is not None and declaration.mode == "hard"
        self._traced = terms.trace is not None
        self._verdicts: Counter[str] = Counter()
        self._ranks: Counter[int] = Counter()
        self._joint = JointCounter(terms.cutoffs)
        self._times = bytearray(len(places or ()))
        self._unexpected: Counter[str] = Counter()
        self._last: tuple[str, str, int] = ("", "", 0)

    def add(self, entry: Entry) -> str | None:
        """Count a record; return what cannot be true of it, None where all can."""
        place = entry[:3]
        if place < self._last:
            return "records are not in order"
        self._last = place
        self._verdicts[entry.verdict] += 1
        if not self._may_have(entry.verdict, entry.rank):
            return f"a record has the verdict {entry.verdict!r} and the rank {entry.rank}"
        if not self._may_compare(entry):
            return f"a record has the agreement {entry.agreement!r} and the trace rank {entry.trace_rank}"
        if entry.verdict in _RANKED:
            self._ranks[entry.rank or 0] += 1
            if entry.agreement is not None:
                self._joint.add([Compared(Agreement(entry.agreement), entry.rank or 0, entry.trace_rank or 0)])
        if self._places is not None:
            at = self._places.get(entry.record_id)
            if at is None:
                self._unexpected[entry.record_id] += 1
            elif self._times[at] < _REPEATED:
                self._times[at] += 1
        return None

    def contradiction_in(self, partial: Partial) -> str | None:
        """Return what the records say otherwise than the numbers, in one sentence; None where they agree."""
        counts = partial.counts
        if dict(self._verdicts) != {str(name): count for name, count in _some(counts.verdicts).items()}:
            return "its records have other verdicts than it counts"
        if self._hard and dict(self._ranks) != _some(counts.ranks):
            return "its records have other ranks than it counts"
        if self._hard and counts.joint is not None and self._joint.joint() != counts.joint:
            return "its records have other judged objects than it counts"
        if self._places is None:
            return None
        unexpected = {name for name, times in self._unexpected.items() if times > 1}
        bits = (_marked(self._times, b"\0\1\1"), _marked(self._times, b"\0\0\1"))
        if bits != (partial.seen, partial.repeated) or {*self._unexpected} != partial.unexpected:
            return "its records have other record IDs than it accounts for"
        return None if unexpected == partial.unexpected_repeated else "its records have other repeated record IDs"

    def _may_have(self, verdict: str, rank: int | None) -> bool:
        if verdict not in _RANKED or rank is None:
            return rank is None and verdict != Verdict.PASS
        return rank >= 1 and (self._cutoff is None or (rank <= self._cutoff) == (verdict == Verdict.PASS))

    def _may_compare(self, entry: Entry) -> bool:
        if entry.agreement is None or entry.verdict not in _RANKED or not self._traced:
            compared = self._traced and entry.verdict in _RANKED
            return not compared and entry.agreement is None and entry.trace_rank is None
        if entry.agreement in {Agreement.SAME, Agreement.DIFFERENT}:
            return entry.trace_rank is None or entry.trace_rank >= 1
        return entry.agreement in {*Agreement} and entry.trace_rank is None


_RANKED = frozenset({str(Verdict.PASS), str(Verdict.FAIL)})
_SHA256 = re.compile(r"[0-9a-f]{64}")
_REPEATED = 2
"""Observations of a record ID from which on it does not matter how many there are."""


def _marked(times: bytearray, marks: bytes) -> int:
    """Return a bit for each number of times, as ``marks`` has it for 0, 1 and 2."""
    table = bytes(b"01"[mark] for mark in marks).ljust(256, b"0")
    return int(times.translate(table)[::-1] or b"0", 2)


def _held(counts: Counts, cutoff: int) -> int:
    return sum(count for rank, count in counts.ranks.items() if 0 < rank <= cutoff)


def _some(counts: Mapping[_K, int]) -> dict[_K, int]:
    return {key: count for key, count in counts.items() if count}


def _shown(count: int) -> str:
    """Return a number that may have more digits than Python writes."""
    return f"{count:,}" if count.bit_length() <= 63 else "too many"
