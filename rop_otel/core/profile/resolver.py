"""The identity resolver of ROP v1: which object a raw ID belongs to."""

from __future__ import annotations

import hashlib
import json
import reprlib
from collections.abc import Iterable, Mapping
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from rop_otel.core.profile import ijson
from rop_otel.errors import ResolverError

if TYPE_CHECKING:
    from rop_otel.core.profile.resolver_document import PlainObject


class _Object(NamedTuple):
    members: tuple[str, ...]
    aliases: tuple[str, ...] = ()


class Resolver:
    """Maps an object ID, each of its members and each of its aliases to the object.

    Strings are compared by code point, unnormalised.

    Args:
        members: Object ID to its raw corpus IDs, at least one each; may be empty.
        aliases: Object ID to its aliases; objects may be left out.
        version: The resolver's version, non-empty.

    Raises:
        ResolverError: An empty string, an object without members, aliases of an object that is not there, or a
            string that two objects own.

    >>> resolver = Resolver({"page": ["page#0", "page#1"]}, aliases={"page": ["Page"]})
    >>> resolver.resolve("page#1"), resolver.resolve("Page"), resolver.resolve("other")
    ('page', 'page', None)
    """

    __slots__ = ("__dict__", "_names", "_objects", "_places", "version")

    def __init__(
        self,
        members: Mapping[str, Iterable[str]],
        *,
        aliases: Mapping[str, Iterable[str]] | None = None,
        version: str = "unversioned",
    ) -> None:
        self.version = _text(version, "the resolver's version")
        own = {_text(name, "an object ID"): _distinct(raws, name) for name, raws in members.items()}
        others = {name: _distinct(raws, name) for name, raws in (aliases or {}).items()}
        self._take({name: _Object(raws, others.get(name, ())) for name, raws in own.items()})
        for name in others:
            if name not in own:
                raise ResolverError(f"aliases are given for {name!r}, which is no object")

    def _take(self, objects: Mapping[str, _Object | PlainObject]) -> None:
        self._objects, self._names = objects, tuple(objects)
        self._places: dict[str, int] = {}
        place_of = self._places.setdefault
        for place, (name, its) in enumerate(objects.items()):
            if not its.members:
                raise ResolverError(f"object {name!r} has no members")
            for raw in (name, *its.members, *its.aliases):
                if (owner := place_of(raw, place)) != place:
                    raise ResolverError(f"{raw!r} belongs to two objects, {self._names[owner]!r} and {name!r}")

    @classmethod
    def parse(cls, data: bytes, *, lines: bool = False) -> Resolver:
        """Read a resolver file's bytes.

        Args:
            data: The file's exact bytes; :attr:`sha256` is theirs.
            lines: True for JSON Lines (a ``.jsonl`` file), False for one JSON document.

        Raises:
            ResolverError: The bytes break a rule of ROP v1; the message says which.
        """
        # Imported here: an application without a resolver file need not wait for it.
        from rop_otel.core.profile.resolver_document import plain_document

        try:
            if lines:
                resolver = _from_lines(data)
            elif (plain := plain_document(data)) is None:
                resolver = _from_document(ijson.loads(data))
            else:
                resolver = cls({}, version=plain.resolver_version)
                resolver._take(plain.objects)
        except ijson.IJsonError as error:
            raise ResolverError(str(error)) from None
        resolver.__dict__["sha256"] = hashlib.sha256(data).hexdigest()
        return resolver

    def resolve(self, raw: str) -> str | None:
        """Return the object that a raw ID belongs to, None where no object owns it."""
        place = self._places.get(raw)
        return None if place is None else self._names[place]

    def canonical(self, raw: str) -> str:
        """Return the object that a raw ID belongs to, the ID itself where no object owns it."""
        return self.resolve(raw) or raw

    def members(self, name: str) -> tuple[str, ...]:
        """Return the raw corpus IDs of an object; empty where there is no such object."""
        return self._objects.get(name, _NOBODY).members

    def objects(self) -> tuple[str, ...]:
        """Return every object ID, in the order of the resolver."""
        return self._names

    def aliases(self, name: str) -> tuple[str, ...]:
        """Return the aliases of an object; empty where it has none, or where there is no such object."""
        return self._objects.get(name, _NOBODY).aliases

    def strings(self, name: str) -> tuple[str, ...]:
        """Return every string that resolves to an object: its ID, members and aliases; the name alone if unknown."""
        its = self._objects.get(name, _NOBODY)
        return (name, *its.members, *its.aliases)

    def places(self) -> Mapping[str, int]:
        """Return every string that resolves, with the place of its object in :meth:`objects`, in that order."""
        return MappingProxyType(self._places)

    def is_member(self, raw: str) -> bool:
        """Return whether a raw ID is a member of its object."""
        owner = self.resolve(raw)
        return owner is not None and raw in self._objects[owner].members

    def to_bytes(self) -> bytes:
        """Return the resolver as a JSON document, as :meth:`parse` reads it."""
        objects = {
            name: {"members": its.members} | ({"aliases": its.aliases} if its.aliases else {})
            for name, its in self._objects.items()
        }
        document = {"resolver_version": self.version, "objects": objects}
        return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()

    @cached_property
    def sha256(self) -> str:
        """SHA-256 of the bytes that were parsed, or of :meth:`to_bytes`; 64 lower-case hex digits."""
        return hashlib.sha256(self.to_bytes()).hexdigest()

    def __len__(self) -> int:
        return len(self._objects)

    def __repr__(self) -> str:
        return f"Resolver(version={self.version!r}, objects={len(self)})"


def _text(value: object, what: str) -> str:
    if not isinstance(value, str) or not value:
        raise ResolverError(f"{what} must be a non-empty string, not {reprlib.repr(value)}")
    if not value.isascii() and any("\ud800" <= char <= "\udfff" for char in value):
        raise ResolverError(f"{what} must not hold a lone surrogate: {value!r}")
    return value


def _distinct(raws: object, name: str) -> tuple[str, ...]:
    if isinstance(raws, str) or not isinstance(raws, Iterable):
        raise ResolverError(f"the members and aliases of {name!r} must be lists of strings, not {reprlib.repr(raws)}")
    what = f"a member or alias of {name!r}"
    return tuple(dict.fromkeys(_text(raw, what) for raw in raws))


def _from_document(document: Any) -> Resolver:
    fields = _object(document, "the resolver", {"resolver_version", "objects"})
    objects = fields.get("objects")
    if not isinstance(objects, dict):
        raise ResolverError(f"the resolver's field 'objects' must be a JSON object, not {reprlib.repr(objects)}")
    for name, part in objects.items():
        _object(part, f"object {name!r}", _PART)
    return _build(objects, fields.get("resolver_version"))


def parse_resolver_file(name: str, data: bytes) -> Resolver:
    """Read a resolver file's exact bytes as the file's name says: ``.jsonl`` is JSON Lines.

    Raises:
        ResolverError: As for :meth:`Resolver.parse`.
    """
    return Resolver.parse(data, lines=name.endswith(".jsonl"))


def _from_lines(data: bytes) -> Resolver:
    rows = data.split(b"\n")
    if rows and not rows[-1]:
        rows.pop()
    if not rows:
        raise ResolverError("line 1: the resolver is empty")
    parts: dict[str, dict[str, Any]] = {}
    head = _object(_row(rows[0], 1), "line 1", {"resolver_version"})
    for number, row in enumerate(rows[1:], 2):
        fields = _object(_row(row, number), f"line {number}", {"object_id", *_PART})
        name = _text(fields.pop("object_id", None), f"line {number}: object_id")
        if name in parts:
            raise ResolverError(f"line {number}: object {name!r} is given twice")
        parts[name] = fields
    return _build(parts, head.get("resolver_version"))


def _row(row: bytes, number: int) -> Any:
    try:
        return ijson.loads(row)
    except ijson.IJsonError as error:
        raise ResolverError(f"line {number}: {error}") from None


def _object(value: Any, what: str, known: set[str]) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ResolverError(f"{what} must be a JSON object, not {reprlib.repr(value)}")
    unknown = sorted(value.keys() - known)
    if unknown:
        raise ResolverError(f"{what} has an unknown field {unknown[0]!r}")
    return value


def _build(parts: Mapping[str, Mapping[str, Any]], version: Any) -> Resolver:
    members: dict[str, list[Any]] = {}
    aliases: dict[str, list[Any]] = {}
    for name, part in parts.items():
        for field, given in part.items():
            if not isinstance(given, list):
                raise ResolverError(f"{field} of {name!r} must be a list of strings, not {reprlib.repr(given)}")
            (members if field == "members" else aliases)[name] = given
        if "members" not in part:
            raise ResolverError(f"object {name!r} has no members")
    return Resolver(members, aliases=aliases, version=_text(version, "resolver_version"))


_PART: Final = {"members", "aliases"}
_NOBODY: Final = _Object(())
