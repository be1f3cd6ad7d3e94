"""Whether the numbers of a partial report can all be true: of each other, of the declaration, and of its records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import astuple
from typing import TypeVar

from rop_otel.core.profile.accounts import Counts, Joint
from rop_otel.core.profile.declaration import Declaration, Opened
from rop_otel.core.profile.intake import Entry
from rop_otel.core.profile.partial import Partial
from rop_otel.core.profile.verdicts import Verdict

_K = TypeVar("_K")


def contradiction_in(partial: Partial, opened: Opened) -> str | None:
    """Return the first thing that cannot be true in the numbers of a part, in one sentence; None where all can.

    Args:
        partial: The numbers.
        opened: The declaration that they belong to; one that is not valid here may have been where they were made.
    """
    return next(_contradictions(partial, opened.declaration), None)


def _contradictions(partial: Partial, declaration: Declaration | None) -> Iterator[str]:
    yield from _of_cutoffs(partial, declaration)
    yield from _of_counts(partial.counts, declaration)
    yield from _of_joint(partial)
    yield from _of_ids(partial, declaration)
    for malformed in partial.counts.malformed:
        if malformed.line < 1:
            yield f"line {malformed.line} of {malformed.file!r} is no line"


def _of_cutoffs(partial: Partial, declaration: Declaration | None) -> Iterator[str]:
    cutoffs = partial.cutoffs
    if list(cutoffs) != sorted({*cutoffs}) or not all(cutoffs):
        yield "its cutoffs are not ascending, from 1 on"
    if declaration is not None and declaration.cutoff not in cutoffs:
        yield f"the declared cutoff, {declaration.cutoff}, is none of its cutoffs"


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


def _of_joint(partial: Partial) -> Iterator[str]:
    counts = partial.counts
    if not counts.joint:
        return
    if {*counts.joint} != {*partial.cutoffs}:
        yield "it compares a trace target at other cutoffs than its own"
        return
    if len({sum(astuple(joint)) for joint in counts.joint.values()}) > 1:
        yield "it compares a trace target on other records at one cutoff than at another"
    if any(_impossible(joint, cutoff, counts) for cutoff, joint in counts.joint.items()):
        yield "it compares a trace target on more records than have such ranks"


def _impossible(joint: Joint, cutoff: int, counts: Counts) -> bool:
    held = _held(counts, cutoff)
    missed = sum(counts.ranks.values()) - held
    return joint.both + joint.selected_only > held or joint.traced_only + joint.neither > missed


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
    if declaration.mode != "hard":
        if distinct:
            yield f"it accounts for a population, which {declaration.mode} mode does not"
        return
    population = declaration.population or ()
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
        places: Where each record ID stands in the population, where the declaration accounts for one.
    """

    def __init__(self, opened: Opened, places: Mapping[str, int] | None) -> None:
        self._places = places
        self._cutoff = None if opened.declaration is None else opened.declaration.cutoff
        self._verdicts: Counter[str] = Counter()
        self._ranks: Counter[int] = Counter()
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
        if entry.verdict in _RANKED:
            self._ranks[entry.rank or 0] += 1
        if self._places is not None:
            at = self._places.get(entry.record_id)
            if at is None:
                self._unexpected[entry.record_id] += 1
            elif self._times[at] < _REPEATED:
                self._times[at] += 1
        if self._may_have(entry.verdict, entry.rank):
            return None
        return f"a record has the verdict {entry.verdict!r} and the rank {entry.rank}"

    def contradiction_in(self, partial: Partial) -> str | None:
        """Return what the records say otherwise than the numbers, in one sentence; None where they agree."""
        if dict(self._verdicts) != {str(name): count for name, count in _some(partial.counts.verdicts).items()}:
            return "its records have other verdicts than it counts"
        if self._places is None:
            return None
        if dict(self._ranks) != _some(partial.counts.ranks):
            return "its records have other ranks than it counts"
        unexpected = {name for name, times in self._unexpected.items() if times > 1}
        bits = (_marked(self._times, b"\0\1\1"), _marked(self._times, b"\0\0\1"))
        if bits != (partial.seen, partial.repeated) or {*self._unexpected} != partial.unexpected:
            return "its records have other record IDs than it accounts for"
        return None if unexpected == partial.unexpected_repeated else "its records have other repeated record IDs"

    def _may_have(self, verdict: str, rank: int | None) -> bool:
        if verdict not in _RANKED or rank is None:
            return rank is None and verdict != Verdict.PASS
        return rank >= 1 and (self._cutoff is None or (rank <= self._cutoff) == (verdict == Verdict.PASS))


_RANKED = frozenset({str(Verdict.PASS), str(Verdict.FAIL)})
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
