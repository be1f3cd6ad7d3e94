"""The public names of a tree of Python sources: what each object is called, and by which other names."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from rop_otel.reference.corpus.source import Definition, Source, read_source

_PLACES = {"os.path": "posixpath"}
"""Modules that live in another file; chosen whatever the platform, so that every machine has the same corpus."""

Place = tuple[str, str]
"""Where something is defined: module and name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Documented:
    """One documented object under its public name.

    Args:
        key: Public qualified name, the shortest one.
        title: Key with the signature.
        kind: ``module``, ``class``, ``function`` or ``method``.
        doc: Its docstring.
        parent: Key of the module or class around it.
        aliases: Its other names: where it is defined, where else it is re-exported, where it is inherited.
    """

    key: str
    title: str
    kind: str
    doc: str
    parent: str | None = None
    aliases: tuple[str, ...] = ()


class Library:
    """A tree of Python sources, and which of its modules are public.

    Args:
        root: Folder that holds the top-level modules.
        modules: Public modules in order; those that are not there (built in, or of another version) are passed over.
    """

    def __init__(self, root: Path, modules: tuple[str, ...]) -> None:
        self._root = root
        self._modules = modules
        self._sources: dict[str, Source | None] = {}
        self._names = self._public_names()

    def documented(self) -> tuple[Documented, ...]:
        """Return every documented object once, each module before its contents, with aliases that nothing else has."""
        found: dict[str, Documented] = {}
        for one in self._walk():
            found.setdefault(one.key, one)
        taken = set(found)
        unique: list[Documented] = []
        for one in found.values():
            free = tuple(dict.fromkeys(alias for alias in one.aliases if alias not in taken))
            taken.update(free)
            unique.append(replace(one, aliases=free, parent=one.parent if one.parent in found else None))
        return tuple(unique)

    def _walk(self) -> Iterator[Documented]:
        inherited = self._inherited_names()
        for module in self._modules:
            source = self._source(module)
            if source is None:
                continue
            if source.doc:
                yield Documented(key=module, title=module, kind="module", doc=source.doc)
            for place, names in self._names.items():
                if names[0].rpartition(".")[0] == module:
                    yield from self._object(place, names, module=module, inherited=inherited)

    def _object(
        self, place: Place, names: list[str], *, module: str, inherited: dict[tuple[Place, str], list[str]]
    ) -> Iterator[Documented]:
        definition = self._definition(place)
        if definition is None:
            return
        key, *others = [*names, ".".join(place)]
        if definition.doc:
            yield _documented(definition, key, parent=module, aliases=others)
        parent = key if definition.doc else module
        for origin, method in self._members(place):
            aliases = [f"{other}.{method.name}" for other in others] + inherited.get((origin, method.name), [])
            yield _documented(method, f"{key}.{method.name}", parent=parent, aliases=aliases)

    def _members(self, place: Place) -> Iterator[tuple[Place, Definition]]:
        """Yield a class's documented methods; those of private bases count as its own."""
        definition = self._definition(place)
        if definition is None:
            return
        yield from ((place, method) for method in definition.members if method.doc)
        own = {method.name for method in definition.members if method.doc}
        for base in self._bases(place, definition):
            if base not in self._names:
                yield from ((origin, method) for origin, method in self._members(base) if method.name not in own)

    def _inherited_names(self) -> dict[tuple[Place, str], list[str]]:
        """Return, by documented method of a public class, its names in the public classes that inherit it."""
        inherited: dict[tuple[Place, str], list[str]] = {}
        for place, names in self._names.items():
            definition = self._definition(place)
            if definition is None or definition.kind != "class":
                continue
            seen = {method.name for _, method in self._members(place)}
            for ancestor in self._ancestors(place):
                for origin, method in self._members(ancestor):
                    if method.name not in seen:
                        seen.add(method.name)
                        inherited.setdefault((origin, method.name), []).append(f"{names[0]}.{method.name}")
        return inherited

    def _ancestors(self, place: Place, seen: frozenset[Place] = frozenset()) -> Iterator[Place]:
        definition = self._definition(place)
        for base in self._bases(place, definition) if definition else ():
            if base not in seen and base != place:
                if base in self._names:
                    yield base
                yield from self._ancestors(base, seen | {place})

    def _bases(self, place: Place, definition: Definition) -> list[Place]:
        resolved = (self._locate_base(place[0], base) for base in definition.bases)
        return [base for base in resolved if base is not None and base != place]

    def _locate_base(self, module: str, base: str) -> Place | None:
        """Return where a base class as written in a module is defined; ``package.Base`` is looked up in the package."""
        head, _, name = base.rpartition(".")
        if not head:
            return self._locate(module, base)
        source = self._source(module)
        origin = source.imported.get(head) if source else None
        return self._locate(".".join(origin) if origin else head, name)

    def _public_names(self) -> dict[Place, list[str]]:
        """Return the public names of each place that a public module defines or re-exports, the shortest first."""
        names: dict[Place, list[str]] = {}
        for module in self._modules:
            for name, place in self._exports(module).items():
                names.setdefault(place, []).append(f"{module}.{name}")
        return {place: sorted(public, key=_shortness) for place, public in names.items()}

    def _exports(self, module: str, seen: frozenset[str] = frozenset()) -> dict[str, Place]:
        source = self._source(module)
        if source is None or module in seen:
            return {}
        package = module.split(".")[0]
        wanted = dict.fromkeys(source.exported or ())
        if source.exported is None:
            wanted = dict.fromkeys(name for name in source.definitions if not name.startswith("_"))
            siblings = (name for name, (origin, _) in source.imported.items() if origin.split(".")[0] == package)
            wanted.update(dict.fromkeys(name for name in siblings if not name.startswith("_")))
        exports = {name: place for name in wanted if (place := self._locate(module, name)) is not None}
        for starred in source.starred:
            for name, place in self._exports(starred, seen | {module}).items():
                exports.setdefault(name, place)
        return exports

    def _locate(self, module: str, name: str, depth: int = 0) -> Place | None:
        """Return where a name seen in a module is defined, None where no source of this tree does."""
        source = self._source(module)
        if source is None or depth > 8:
            return None
        if name in source.definitions:
            return module, name
        if name in source.imported:
            return self._locate(*source.imported[name], depth + 1)
        for starred in source.starred:
            place = self._locate(starred, name, depth + 1)
            if place is not None:
                return place
        return None

    def _definition(self, place: Place) -> Definition | None:
        source = self._source(place[0])
        return source.definitions.get(place[1]) if source else None

    def _source(self, module: str) -> Source | None:
        if module not in self._sources:
            self._sources[module] = self._read(module)
        return self._sources[module]

    def _read(self, module: str) -> Source | None:
        stem = self._root.joinpath(*_PLACES.get(module, module).split("."))
        for path in (stem / "__init__.py", stem.with_suffix(".py")):
            if path.is_file():
                return read_source(path, _PLACES.get(module, module))
        return None


def _documented(definition: Definition, key: str, *, parent: str, aliases: list[str]) -> Documented:
    return Documented(
        key=key,
        title=f"{key}{definition.signature}",
        kind=definition.kind,
        doc=definition.doc,
        parent=parent,
        aliases=tuple(alias for alias in aliases if alias != key),
    )


def _shortness(name: str) -> tuple[int, int, str]:
    return name.count("."), len(name), name
