"""The facts that an application reports of an answer, and how the sources of the answer are read."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from itertools import islice
from typing import Final, TypedDict

from rop_otel.core.handoff import Ids
from rop_otel.core.handoff.record import STAGE_FACTS
from rop_otel.errors import UsageError
from rop_otel.safety import raise_if_delivered
from rop_otel.tracing.handoffs.citing import find_citations
from rop_otel.tracing.results.extracting import IdWhere
from rop_otel.tracing.results.result_reader import Reader, Reading
from rop_otel.tracing.results.scalars import as_id
from rop_otel.tracing.running.diagnostics import Problem
from rop_otel.tracing.running.runtime import Runtime

_MOST: Final = 64
"""Ways to an ID that are remembered for one handoff: a callable made anew in every call would be another each time."""


class Answered(TypedDict, total=False):
    """What an application reports of an answer, beside its text.

    Args:
        sources: The documents that the response attaches, in order; None: not known.
        id: Where a source has its ID, as for :func:`rop_otel.stage`. None: where the stages found their IDs.
        labels: Label of each source; None: the n-th label shown is that of the n-th source.
        citations: Labels cited, for an answer that carries them apart from its text; None finds them there.
        attaches: ``shown`` (default): the response lists what was shown; ``cited``: only what the answer cites.
        abstained: Whether the answer says that it cannot answer; None: not known.
    """

    sources: object
    id: IdWhere
    labels: Iterable[str] | None
    citations: Iterable[str] | None
    attaches: str | None
    abstained: bool | None


OF_ANSWERS: Final = frozenset(each.field for each in STAGE_FACTS if each.cut is None) & Answered.__annotations__.keys()
"""Facts of a reader's stage that are said as they are."""

_USUAL: Final = Reader(ids_only=True)


def cited_labels(
    text: object, citations: Iterable[str] | None, shown: Sequence[str], runtime: Runtime, place: str
) -> tuple[str, ...]:
    """Return the labels that an answer cites: those that are given, else those found in its text.

    Args:
        text: The answer.
        citations: Given labels; None: none are.
        shown: The labels that the reader was shown.
        runtime: Has the pattern of citations, and reports what cannot be used.
        place: Names the handoff in log lines.
    """
    try:
        if citations is not None and not isinstance(citations, str):
            given = islice(citations, runtime.config.max_ids)
            return tuple(label for each in given if (label := as_id(each)))
        if isinstance(text, str):
            return find_citations(text, shown=shown, pattern=runtime.config.citation_pattern)
    except BaseException as error:  # noqa: BLE001 - the application's iterable may raise
        raise_if_delivered(error)
        runtime.diagnostics.failure(Problem.ANSWER, place, "its citations could not be read")
        return ()
    wrong = f"the answer is a {type(text).__name__}; give its text, or its citations"
    runtime.diagnostics.misuse(Problem.ANSWER, place, wrong)
    return ()


class Attached:
    """Reads the sources of an answer as the stages of its handoff read the same documents.

    A document can have several IDs. The one that the stages of the handoff used is the right one.
    """

    __slots__ = ("_lists", "_readers")

    def __init__(self) -> None:
        self._readers: dict[Hashable, Reader] = {}
        self._lists: dict[Hashable, Ids] = {}

    def note(self, reader: Reader, ids: Ids) -> None:
        """Remember how a stage read what it returned, and the IDs as they are recorded."""
        key = reader.key
        if key not in self._readers and len(self._readers) >= _MOST:
            return
        self._readers[key] = reader
        self._lists[key] = ids

    @property
    def origins(self) -> str:
        """Where the stages found the IDs of their documents, in words; empty where these were given as IDs."""
        return ", ".join(dict.fromkeys(origin for reader in self._readers.values() for origin in reader.origins))

    def read(self, sources: object, where: IdWhere, runtime: Runtime, place: str) -> Reading:
        """Read sources as the stage did that has most of them among its documents; of several such stages, the latest.

        Args:
            sources: Documents.
            where: Where they have their ID, as the application says; None: find out.
            runtime: Hashes IDs as those are hashed, and reports what cannot be used.
            place: Names the handoff in log lines.
        """
        limit = runtime.config.max_ids
        if where is not None:
            try:
                return Reader(id=where, ids_only=True).read(sources, limit=limit)
            except UsageError as error:
                runtime.diagnostics.misuse(Problem.ANSWER, place, str(error))
        readers = [reader for key, reader in self._readers.items() if key is not None]
        if not readers:
            return _USUAL.read(sources, limit=limit)
        known = frozenset[str]().union(*self._lists.values())
        readings = [reader.read(sources, limit=limit) for reader in (_USUAL, *readers)]

        def agreement(reading: Reading) -> tuple[int, int]:
            ids = reading.ids or ()
            return sum(each in known for each in runtime.hashed(ids)), sum(map(bool, ids))

        return max(reversed(readings), key=agreement)
