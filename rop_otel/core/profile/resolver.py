"""The identity resolver of ROP v1: which object a raw ID belongs to."""

from __future__ import annotations

import hashlib
import json
import reprlib
from collections.abc import Iterable, Mapping
from functools import cached_property
from types import MappingProxyType
from typing import Any

from rop_otel.core.profile import ijson
from rop_otel.errors import ResolverError


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

    __slots__ = ("__dict__", "_aliases", "_members", "_owner", "version")

    def __init__(
        self,
        members: Mapping[str, Iterable[str]],
        *,
        aliases: Mapping[str, Iterable[str]] | None = None,
        version: str = "unversioned",
    ) -> None:
        self.version = _text(version, "the resolver's version")
        self._members = {_text(name, "an object ID"): _distinct(raws, name) for name, raws in members.items()}
        self._aliases = {name: _distinct(raws, name) for name, raws in (aliases or {}).items()}
        self._owner: dict[str, str] = {}
        owner_of, aliases_of = self._owner.setdefault, self._aliases.get
        for name, raws in self._members.items():
            if not raws:
                raise ResolverError(f"object {name!r} has no members")
            for raw in (name, *raws, *aliases_of(name, ())):
                if (owner := owner_of(raw, name)) is not name and owner != name:
                    raise ResolverError(f"{raw!r} belongs to two objects, {owner!r} and {name!r}")
        for name in self._aliases:
            if name not in self._members:
                raise ResolverError(f"aliases are given for {name!r}, which is no object")

    @classmethod
    def parse(cls, data: bytes, *, lines: bool = False) -> Resolver:
        """Read a resolver file's bytes.

        Args:
            data: The file's exact bytes; :attr:`sha256` is theirs.
            lines: True for JSON Lines (a ``.jsonl`` file), False for one JSON document.

        Raises:
            ResolverError: The bytes break a rule of ROP v1; the message says which.
        """
        try:
            resolver = _from_lines(data) if lines else _from_document(ijson.loads(data))
        except ijson.IJsonError as error:
            raise ResolverError(str(error)) from None
        resolver.__dict__["sha256"] = hashlib.sha256(data).hexdigest()
        return resolver

    def resolve(self, raw: str) -> str | None:
        """Return the object that a raw ID belongs to, None where no object owns it."""
        return self._owner.get(raw)

    def canonical(self, raw: str) -> str:
        """Return the object that a raw ID belongs to, the ID itself where no object owns it."""
        return self._owner.get(raw, raw)

    def members(self, name: str) -> tuple[str, ...]:
        """Return the raw corpus IDs of an object; empty where there is no such object."""
        return self._members.get(name, ())

    def objects(self) -> tuple[str, ...]:
        """Return every object ID, in the order of the resolver."""
        return tuple(self._members)

    def aliases(self, name: str) -> tuple[str, ...]:
        """Return the aliases of an object; empty where it has none, or where there is no such object."""
        return self._aliases.get(name, ())

    def strings(self, name: str) -> tuple[str, ...]:
        """Return every string that resolves to an object: its ID, members and aliases; the name alone if unknown."""
        return (name, *self._members.get(name, ()), *self._aliases.get(name, ()))

    def owners(self) -> Mapping[str, str]:
        """Return every string that resolves, with the object that owns it, one object's after the other's."""
        return MappingProxyType(self._owner)

    def is_member(self, raw: str) -> bool:
        """Return whether a raw ID is a member of its object."""
        owner = self._owner.get(raw)
        return owner is not None and raw in self._members[owner]

    def to_bytes(self) -> bytes:
        """Return the resolver as a JSON document, as :meth:`parse` reads it."""
        objects: dict[str, dict[str, list[str]]] = {}
        for name, raws in self._members.items():
            objects[name] = {"members": list(raws)}
            if self._aliases.get(name):
                objects[name]["aliases"] = list(self._aliases[name])
        document = {"resolver_version": self.version, "objects": objects}
        return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()

    @cached_property
    def sha256(self) -> str:
        """SHA-256 of the bytes that were parsed, or of :meth:`to_bytes`; 64 lower-case hex digits."""
        return hashlib.sha256(self.to_bytes()).hexdigest()

    def __len__(self) -> int:
        return len(self._members)

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
    given = tuple(raws)
    for raw in given:
        if type(raw) is not str or not raw or not raw.isascii():
            _text(raw, f"a member or alias of {name!r}")
    return tuple(dict.fromkeys(given))


def _from_document(document: Any) -> Resolver:
    fields = _object(document, "the resolver", {"resolver_version", "objects"})
    objects = fields.get("objects")
    if not isinstance(objects, dict):
        raise ResolverError(f"the resolver's field 'objects' must be a JSON object, not {reprlib.repr(objects)}")
    parts = {name: _object(part, f"object {name!r}", {"members", "aliases"}) for name, part in objects.items()}
    return _build(parts, fields.get("resolver_version"))


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
        fields = _object(_row(row, number), f"line {number}", {"object_id", "members", "aliases"})
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
    for name, part in parts.items():
        for field, given in part.items():
            if not isinstance(given, list):
                raise ResolverError(f"{field} of {name!r} must be a list of strings, not {reprlib.repr(given)}")
        if "members" not in part:
            raise ResolverError(f"object {name!r} has no members")
    return Resolver(
        {name: part["members"] for name, part in parts.items()},
        aliases={name: part["aliases"] for name, part in parts.items() if "aliases" in part},
        version=_text(version, "resolver_version"),
    )
