"""What the reader was shown."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, compress
from typing import Final, NamedTuple

from rop_otel.core.handoff import kinds
from rop_otel.core.handoff.assessment import Basis
from rop_otel.core.handoff.record import Ids, StageRecord

UNSEEN: Final = "unseen"
"""The basis of a list of which the prompt that was seen holds no text."""

_WEAKEST_FIRST: Final = (Basis.ASSUMED, Basis.PROMPT)


class ShownList(NamedTuple):
    """What the reader was shown.

    Args:
        places: The stages that make it up, in order; empty where nothing is known to be shown.
        ids: Recorded IDs with text, concatenated.
        known: How many of them are known to be at their place: up to and including the first cut list.
        cut: Whether a list in it is cut.
        usable: Whether it says what the reader was shown.
        basis: How it is known; None where it is not usable.
    """

    places: tuple[int, ...] = ()
    ids: Ids = ()
    known: int = 0
    cut: bool = False
    usable: bool = False
    basis: Basis | None = None

    @property
    def known_ids(self) -> Ids:
        """The known part; none where the list is not usable."""
        if not self.usable:
            return ()
        return self.ids if self.known == len(self.ids) else self.ids[: self.known]

    def decides(self, cutoff: int | None) -> bool:
        """Return whether what does not lie in the recorded part, up to a cutoff, is known not to be shown there."""
        return not self.cut or (cutoff is not None and self.known >= cutoff)

    def up_to(self, cutoff: int | None) -> Ids:
        """Return the known IDs up to a cutoff; without one all that are recorded."""
        return self.ids if cutoff is None else self.ids[: min(cutoff, self.known)]


def shown_list(
    stages: Sequence[StageRecord],
    *,
    showing: Sequence[int],
    enclosed: Sequence[int],
    end: Sequence[int],
    lost: bool,
) -> ShownList:
    """Return what the reader was shown.

    Args:
        stages: In order.
        showing: The packing and rescue stages.
        enclosed: The packing and rescue stages that another one of them encloses.
        end: What the handoff's own block hands on at its end.
        lost: Whether a packing failed or ended late, or the handoff failed, so that without another packing nobody
            knows what a reader was asked.
    """
    if lost and not any(stages[place].kind == kinds.PACKING for place in showing):
        return ShownList()
    if enclosed:
        inner = frozenset(enclosed)
        showing = [place for place in showing if place not in inner]
    places = _without_rounds(stages, showing) if showing else tuple(end)
    bases = {stages[place].basis for place in places} if showing else set()
    if UNSEEN in bases:
        return ShownList()
    lists = [_with_text(stages[place]) for place in places]
    ids = lists[0] if len(lists) == 1 else tuple(chain.from_iterable(lists))
    cut = next((number for number, place in enumerate(places, 1) if list_is_cut(stages[place])), None)
    known = len(ids) if cut is None else sum(map(len, lists[:cut]))
    usable = bool(places) and all(stages[place].returned is not None for place in places)
    basis = None
    if usable:
        basis = next((each for each in _WEAKEST_FIRST if each in bases), Basis.RECORDED if showing else Basis.LAST_LIST)
    return ShownList(places, ids, known, cut is not None, usable, basis)


def is_cut(ids: Sequence[str], count: int | None) -> bool:
    """Return whether a recorded list is shorter than the true one."""
    return count is not None and count > len(ids)


def list_is_cut(stage: StageRecord) -> bool:
    """Return whether a stage's recorded list is shorter than what it returned; False where unreadable."""
    count = stage.returned_count
    return count is not None and stage.returned is not None and count > len(stage.returned)


def tokens_of(stage: StageRecord) -> Sequence[int] | None:
    """Return the tokens shown for each recorded ID of a showing stage, None where they are not known."""
    tokens = stage.id_tokens
    return tokens if tokens is not None and len(tokens) == len(stage.returned or ()) else None


def shares_of(stage: StageRecord) -> Sequence[float] | None:
    """Return the share that was seen of each recorded ID's text of a showing stage, None where it is not known."""
    shares = stage.shares
    return shares if shares is not None and len(shares) == len(stage.returned or ()) else None


def visible(stage: StageRecord) -> Sequence[bool]:
    """Return for each recorded ID of a showing stage whether text of it was shown; empty where unreadable."""
    tokens, shares = tokens_of(stage), shares_of(stage)
    if tokens is None and shares is None:
        return [True] * len(stage.returned or ())
    if shares is None:
        return [count != 0 for count in tokens or ()]
    if tokens is None:
        return [share != 0 for share in shares]
    return [count != 0 and share != 0 for count, share in zip(tokens, shares, strict=True)]


def _without_rounds(stages: Sequence[StageRecord], showing: Sequence[int]) -> tuple[int, ...]:
    """Return the stages without a round, if a packing is among them and no one with a round comes later; else all."""
    plain = tuple(place for place in showing if stages[place].round is None)
    if not any(stages[place].kind == kinds.PACKING for place in plain) or plain[-1] != showing[-1]:
        return tuple(showing)
    return plain


def _with_text(stage: StageRecord) -> Ids:
    ids = stage.returned or ()
    if stage.kind not in kinds.SHOWING or (stage.id_tokens is None and stage.shares is None):
        return ids
    return tuple(compress(ids, visible(stage)))
