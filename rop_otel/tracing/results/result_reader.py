"""Reads IDs, scores and scopes out of any object that a retrieval function takes or returns."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from itertools import islice, pairwise
from math import isnan
from typing import Any, Final, NamedTuple, TypeGuard, cast

from rop_otel.core.handoff import Ids
from rop_otel.errors import UsageError
from rop_otel.safety import raise_if_delivered
from rop_otel.tracing.results.extracting import (
    Extractor,
    IdWhere,
    Where,
    document_side,
    find_id,
    find_rerankers_score,
    find_scope,
    find_score,
    follow,
    follow_all,
    has_value,
    written,
)
from rop_otel.tracing.results.scalars import as_id, as_name, as_score, plainly

_TEXT_OR_NUMBER: Final = frozenset({str, int})
_MOST_TYPES: Final = 64
"""Types of objects for which a place is remembered: types made again in every call must not be kept for ever."""

_PARTS: Final = frozenset({list, str, int, float, bool, type(None)})
"""What stands in a tuple beside something else where that is several results, and no list of documents."""

_MOST_LOOKED_AT: Final = 1000
"""Elements of a list that are looked at to find out what kind of list it is."""

_ATTEMPTS: Final = 20
"""Objects of one type that are looked at for a way to an ID, so that a list of unreadable ones costs little."""


class Reading(NamedTuple):
    """What was read out of one list.

    Args:
        ids: In order, the empty string where one document has no readable ID; None where none has.
        scores: Aligned with the IDs; None where one is missing.
        scopes: Aligned with the IDs, the empty string where unknown; None where not asked for.
        total: True length where the list was cut to the limit.
        bare: Whether the list is one of strings, of which nothing says that they are IDs.
    """

    ids: Ids | None
    scores: tuple[float, ...] | None = None
    scopes: tuple[str, ...] | None = None
    total: int | None = None
    bare: bool = False


UNREADABLE: Final = Reading(None)
EMPTY: Final = Reading(())


class Reader:
    """Reads the lists of one place, and remembers where in its objects the parts are. Reading never raises.

    Args:
        id: Where the ID is: a name (``node.node_id``), a callable, or a map from an index to an ID. None: usual names.
        score: Where the score is, likewise.
        scope: Where the scope is; None: nowhere.
        ids_only: True where scores are of no use.
        rescored: True where a reranker's own score goes before one that the documents had before.

    Attributes:
        key: Equal for readers that look for the ID at the same place; None: at the usual ones.

    Raises:
        UsageError: An argument is none of these.
    """

    __slots__ = ("_extractors", "_id", "_ids_only", "_plain", "_rescored", "_scope", "_score", "key")

    def __init__(
        self,
        *,
        id: IdWhere = None,  # noqa: A002 - the word that users know
        score: Where = None,
        scope: Where = None,
        ids_only: bool = False,
        rescored: bool = False,
    ) -> None:
        _check("id", id, hasattr(id, "__getitem__") and not isinstance(id, str))
        _check("score", score, False)
        _check("scope", scope, False)
        self._id = id
        self._score = score
        self._scope = scope
        self._ids_only = ids_only
        self._rescored = rescored and score is None
        self.key: Hashable = id if id is None or isinstance(id, str) else _identity(id)
        self._plain = id is None and score is None and scope is None
        self._extractors: dict[type, Extractor] = {}

    @property
    def origins(self) -> tuple[str, ...]:
        """Where IDs were found, by type of object: ``Document.metadata['source']``; a type alone is an ID by itself."""
        return tuple(kind.__name__ + written(found.id) for kind, found in self._extractors.items())

    def read(self, results: object, *, limit: int) -> Reading:
        """Read a list: of IDs, of objects, of pairs with a score; an array; or faiss's ``(D, I)``.

        Args:
            results: Left as it is; an iterator is not consumed, and so is unreadable.
            limit: How many to read at most.
        """
        try:
            if type(results) is list and 0 < len(results) <= limit:
                return self._read_items(results)
            return self._read(results, limit)
        except BaseException as error:  # noqa: BLE001 - the objects' own code runs here, and monitoring never raises
            raise_if_delivered(error)
            return UNREADABLE

    def read_one(self, item: object) -> tuple[str, float | None, str]:
        """Read one object: its ID, the empty string without one; its score; its scope."""
        try:
            return _read_with(self._extractor(item), item)
        except BaseException as error:  # noqa: BLE001 - the object's own code runs here
            raise_if_delivered(error)
            return "", None, ""

    def _read(self, results: object, limit: int) -> Reading:
        if _is_search(results):
            return self._read_search(results[0], results[1], limit)
        listed = _listed(results, limit)
        if listed is None:
            return UNREADABLE
        if not listed.items:
            return EMPTY
        reading = self._read_items(listed.items)
        return reading if listed.total <= limit or reading.ids is None else reading._replace(total=listed.total)

    def _read_items(self, items: Sequence[Any]) -> Reading:
        if self._plain and type(items[0]) is str and (texts := _all_ids(items)) is not None:
            return Reading(texts, bare=True) if any(texts) else UNREADABLE
        extractor = self._extractor(items[0])
        if extractor is None:
            return self._read_slowly(items)
        try:
            ids = _all_ids(extractor.ids(items))
        except BaseException as error:  # noqa: BLE001
            raise_if_delivered(error)
            ids = None
        if ids is None or not any(ids):
            return self._read_slowly(items)
        if self._ids_only:
            return Reading(ids)
        scores = self._scores(extractor, items)
        return Reading(ids, scores, None if self._scope is None else self._scopes(items))

    def _read_slowly(self, items: Sequence[Any]) -> Reading:
        """Read object by object: some have no ID, or they are of several types."""
        read = self._read_each(items)
        if not any(raw for raw, _, _ in read):
            self._extractors.clear()  # what was learnt from other lists does not fit this one
            read = self._read_each(items)
        if not any(raw for raw, _, _ in read):
            return UNREADABLE
        scores = [score for _, score, _ in read if score is not None]
        return Reading(
            tuple(raw for raw, _, _ in read),
            tuple(scores) if len(scores) == len(read) else None,
            None if self._scope is None else tuple(scope for _, _, scope in read),
        )

    def _read_each(self, items: Sequence[Any]) -> list[tuple[str, float | None, str]]:
        attempts = dict.fromkeys(map(type, items), _ATTEMPTS)
        found: dict[type, Extractor] = {}
        for item in items:
            kind = type(item)
            if kind not in found and attempts[kind]:
                attempts[kind] -= 1
                extractor = self._extractor(item)
                if extractor is not None:
                    found[kind] = extractor
        return [_read_with(found.get(type(item)), item) for item in items]

    def _extractor(self, example: object) -> Extractor | None:
        """Return the extractor for a type of object, learnt from this one if need be; None where it has no ID."""
        known = self._extractors.get(type(example))
        if known is not None and (known.score is not None or self._ids_only):
            if not self._rescored or document_side(example) is not None:
                return known
            own = find_rerankers_score(example)
            if own is None or own == known.score:
                return known
        found = find_id(example, self._id) if known is None else known.id
        if found is None:
            return None
        score = None if self._ids_only else find_score(example, self._score, rescored=self._rescored)
        if known is None or (score is not None and score != known.score):
            scores = None if score is None else follow_all(score)
            known = Extractor(found, score, find_scope(example, self._scope), follow_all(found), scores)
            if len(self._extractors) >= _MOST_TYPES:
                self._extractors.clear()
            self._extractors[type(example)] = known
        return known

    def _scores(self, extractor: Extractor, items: Sequence[Any]) -> tuple[float, ...] | None:
        """Return the scores of a list; where they are not at the place that another list had them at, look again."""
        scores = None if extractor.scores is None else _all_scores(extractor.scores, items)
        if scores is None and extractor.score is not None and not callable(self._score):
            found = find_score(items[0], self._score, rescored=self._rescored)
            if found is not None and found != extractor.score:
                scores = _all_scores(follow_all(found), items)
        return scores

    def _scopes(self, items: Sequence[Any]) -> tuple[str, ...]:
        return tuple(self.read_one(item)[2] for item in items)

    def _read_search(self, distances: Any, indices: Any, limit: int) -> Reading:
        """Read faiss's ``(D, I)`` of one query. Places without a neighbour (-1) come last, and were not returned."""
        row = _row(indices, limit)
        if row is None:
            return UNREADABLE
        kept = [place for place, index in enumerate(row.items) if index != -1]
        if not kept:
            return EMPTY
        reading = self._read_items([row.items[place] for place in kept])
        scores = _row(distances, limit)
        if scores is not None and scores.total == row.total and reading.ids is not None:
            reading = reading._replace(scores=_descending([as_score(scores.items[place]) for place in kept]))
        total = len(kept) if len(kept) < len(row.items) else _neighbours(indices, limit, row.total)
        return reading if total <= limit or reading.ids is None else reading._replace(total=total)


class _Listed(NamedTuple):
    """The first documents of a list, and how many it says it has."""

    items: Sequence[Any]
    total: int


def is_list(results: object) -> bool:
    """Return whether something is a list that can be read, with or without IDs."""
    try:
        return _listed(results, _MOST_LOOKED_AT) is not None
    except BaseException as error:  # noqa: BLE001 - the object's own code runs here
        raise_if_delivered(error)
        return False


def lists_in(results: object) -> Sequence[object]:
    """Return the lists of a list of lists, as a fusion is handed them; of anything else itself alone."""
    if type(results) in (list, tuple):
        lists = cast("Sequence[Any]", results)
        first = islice(lists, _MOST_LOOKED_AT)
        if lists and all(map(_is_one_list, first)) and not _is_search(results):
            return lists
    return (results,)


def _is_one_list(each: Any) -> bool:
    """Return whether what stands in a list is a list itself, and no document with its score; two whole numbers are."""
    if type(each) is list:
        return document_side(each) is None or set(map(type, each)) == {int}
    return _is_array(each) and each.ndim > 0


def _is_search(results: Any) -> TypeGuard[tuple[Any, Any]]:
    """Return whether something is faiss's ``(D, I)``: distances, and whole numbers for the places of the neighbours."""
    if type(results) is not tuple or len(results) != 2 or not all(map(_is_array, results)):
        return False
    distances, indices = (_row(each, _MOST_LOOKED_AT) for each in results)
    if distances is None or indices is None:
        return False
    return all(type(each) is float for each in distances.items) and all(type(each) is int for each in indices.items)


def _read_with(extractor: Extractor | None, item: object) -> tuple[str, float | None, str]:
    if extractor is None:
        return "", None, ""
    score = None if extractor.score is None else as_score(follow(extractor.score, item))
    scope = None if extractor.scope is None else as_id(follow(extractor.scope, item))
    return as_id(follow(extractor.id, item)) or "", score, scope or ""


def _identity(where: object) -> Hashable:
    return "at", id(where)  # what a user gives may be no key: its equality may be its own code


def _check(name: str, where: object, also: bool) -> None:
    if not (where is None or callable(where) or as_name(where) or also):
        raise UsageError(f"{name}={plainly(where)}: it must be a name or a callable")


def _all_ids(values: Sequence[Any]) -> Ids | None:
    """Return IDs that are all strings or integers; None where one is anything else."""
    if type(values[0]) is str:
        try:
            "".join(values)  # raises where one is no string, and is the quickest way to find out
            return tuple(values)
        except TypeError:
            pass
    return tuple(map(str, values)) if set(map(type, values)) <= _TEXT_OR_NUMBER else None


def _all_scores(found: Callable[[Sequence[Any]], list[Any]], items: Sequence[Any]) -> tuple[float, ...] | None:
    try:
        scores = tuple(map(float, found(items)))
    except BaseException as error:  # noqa: BLE001
        raise_if_delivered(error)
        return None
    # The sum is NaN where a score is, and, rarely, where infinite ones cancel out.
    return None if isnan(sum(scores)) and any(map(isnan, scores)) else scores


def _descending(values: list[float | None]) -> tuple[float, ...] | None:
    """Return scores whose best comes first; None for distances, of which the smallest is the best."""
    scores = [value for value in values if value is not None]
    ordered = len(scores) == len(values) and all(one >= other for one, other in pairwise(scores))
    return tuple(scores) if ordered else None


def _listed(results: object, limit: int) -> _Listed | None:
    """Return the beginning of a sized collection in its order; None for anything else."""
    if isinstance(results, tuple):
        kinds = set(map(type, islice(results, limit)))
        if len(kinds) > 1 and not kinds.isdisjoint(_PARTS):
            return None  # (prompt, passages)
    if type(results) in (list, tuple):
        items = cast("Sequence[Any]", results)
        return _Listed(items if len(items) <= limit else items[:limit], len(items))
    if isinstance(results, list | tuple):
        return _beginning(results, limit)
    if isinstance(results, Mapping):
        documents = results.get("documents")  # what a Haystack component returns
        return _listed(documents, limit) if isinstance(documents, list) else None
    if _is_array(results):
        return _row(results, limit)
    if isinstance(results, str | bytes | bytearray | set | frozenset):
        return None
    if isinstance(results, Sequence):
        return _beginning(results, limit)
    if has_value(results, "columns"):
        return None  # a table, which gives its columns
    return _beginning(results, limit) if isinstance(results, Collection) else None


def _beginning(results: Collection[Any], limit: int) -> _Listed:
    """Read the beginning of a collection once; it may be lazy, and have more or fewer documents than it says."""
    items = list(islice(results, limit))
    return _Listed(items, len(items) if len(items) < limit else max(len(results), limit))


def _is_array(value: object) -> bool:
    return has_value(value, "tolist") and has_value(value, "ndim")


def _row(array: Any, limit: int) -> _Listed | None:
    """Return the beginning of a one-dimensional array, or of the only row of another; None for any other."""
    row = _only_row(array)
    if row is None:
        return None
    total = len(row)
    return _Listed(list((row if total <= limit else _by_place(row)[:limit]).tolist()), total)


def _only_row(array: Any) -> Any:
    if array.ndim == 2 and len(array) == 1:
        array = array[0]
    return array if array.ndim == 1 else None


def _by_place(array: Any) -> Any:
    """Return what gives elements by their place: the own index of a pandas series goes by its labels."""
    return getattr(array, "iloc", array)


def _neighbours(indices: Any, known: int, total: int) -> int:
    """Return how many of an array's places have a neighbour; the first ones have, and those without come last."""
    row = _by_place(_only_row(indices))
    return bisect_left(range(total), True, lo=min(known, total), key=lambda place: bool(row[place] == -1))
