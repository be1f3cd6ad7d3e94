"""The identity resolver: its rules, its file in two forms, and what is said about a file that breaks a rule."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterable, Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rop_otel.core.profile import Resolver
from rop_otel.core.profile.hashing import hash_id, hash_resolver
from rop_otel.errors import ResolverError

OBJECTS = {"page": {"members": ["page#0", "page#1"], "aliases": ["Page", "p"]}, "solo": {"members": ["solo"]}}


def document(objects: Any = OBJECTS, version: Any = "v1", **more: Any) -> bytes:
    """Return a resolver file as one JSON document."""
    return json.dumps({"resolver_version": version, "objects": objects, **more}).encode()


def rows(*objects: Any, head: Any = None) -> bytes:
    """Return a resolver file as JSON Lines."""
    return b"".join(json.dumps(row).encode() + b"\n" for row in (head or {"resolver_version": "v1"}, *objects))


class TestLookups:
    """What belongs to which object."""

    RESOLVER = Resolver.parse(document())

    @pytest.mark.parametrize("raw", ["page", "page#0", "page#1", "Page", "p"])
    def test_every_role(self, raw: str) -> None:
        """An object's ID, its members and its aliases all resolve to it."""
        assert self.RESOLVER.resolve(raw) == self.RESOLVER.canonical(raw) == "page"

    @pytest.mark.parametrize("raw", ["PAGE", "page ", "", "page#2", "p\u0301"])
    def test_unknown(self, raw: str) -> None:
        """Strings are compared by code point; what no object owns resolves to nothing and stands for itself."""
        assert (self.RESOLVER.resolve(raw), self.RESOLVER.canonical(raw)) == (None, raw)

    def test_unnormalised(self) -> None:
        """Two spellings of one text are two strings."""
        resolver = Resolver({"one": ["caf\u00e9"], "two": ["cafe\u0301"]})
        assert (resolver.resolve("caf\u00e9"), resolver.resolve("cafe\u0301")) == ("one", "two")

    def test_parts(self) -> None:
        """Members, aliases and all strings of an object, and whether an ID is a member."""
        resolver = self.RESOLVER
        assert (resolver.members("page"), resolver.aliases("page")) == (("page#0", "page#1"), ("Page", "p"))
        assert resolver.strings("page") == ("page", "page#0", "page#1", "Page", "p")
        assert (resolver.members("x"), resolver.aliases("solo"), resolver.strings("x")) == ((), (), ("x",))
        assert [resolver.is_member(raw) for raw in ("page#0", "page", "Page", "solo", "x")] == [
            True,
            False,
            False,
            True,
            False,
        ]
        assert (resolver.objects(), len(resolver), resolver.version) == (("page", "solo"), 2, "v1")
        assert {raw: resolver.resolve(raw) for raw in resolver.places()} == {
            raw: resolver.objects()[place] for raw, place in resolver.places().items()
        }
        assert list(resolver.places()) == ["page", "page#0", "page#1", "Page", "p", "solo"]

    def test_two_roles_of_one_object(self) -> None:
        """One string may be the ID, a member and an alias of one object, and be repeated within a list."""
        resolver = Resolver({"a": ["a", "b", "a", "b"]}, aliases={"a": ["a", "b", "b"]})
        assert (resolver.members("a"), resolver.aliases("a")) == (("a", "b"), ("a", "b"))

    def test_no_objects(self) -> None:
        """A resolver may know nothing."""
        assert len(Resolver.parse(document({}))) == len(Resolver.parse(rows(), lines=True)) == 0


@pytest.mark.parametrize(
    ("members", "aliases"),
    [
        ({"a": ["x"], "b": ["x"]}, {}),
        ({"a": ["b"], "b": ["y"]}, {}),
        ({"a": ["x"], "b": ["y"]}, {"b": ["x"]}),
        ({"a": ["x"], "b": ["y"]}, {"a": ["z"], "b": ["z"]}),
        ({"a": ["x"], "b": ["y"]}, {"a": ["b"]}),
    ],
)
def test_two_owners(members: Mapping[str, Iterable[str]], aliases: Mapping[str, Iterable[str]]) -> None:
    """A string that two objects own, in any roles, invalidates the resolver; the message names all three."""
    with pytest.raises(ResolverError, match=r"'[bxyz]' belongs to two objects, 'a' and 'b'"):
        Resolver(members, aliases=aliases)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (document({"a": {"members": []}}), "object 'a' has no members"),
        (document({"a": {}}), "object 'a' has no members"),
        (document({"a": {"members": ["x"], "alias": []}}), "object 'a' has an unknown field 'alias'"),
        (document({"a": {"members": "x"}}), "members of 'a' must be a list of strings, not 'x'"),
        (document({"a": {"members": None}}), "members of 'a' must be a list of strings, not None"),
        (document({"a": {"members": {"x": 1}}}), "members of 'a' must be a list of strings, not {'x': 1}"),
        (document({"a": {"members": ["x"], "aliases": None}}), "aliases of 'a' must be a list of strings, not None"),
        (document({"a": {"members": ["x", ""]}}), "a member or alias of 'a' must be a non-empty string, not ''"),
        (document({"a": {"members": [7]}}), "a member or alias of 'a' must be a non-empty string, not 7"),
        (document({"a": {"members": ["x"], "aliases": [""]}}), "a member or alias of 'a' must be a non-empty string"),
        (document({"": {"members": ["x"]}}), "an object ID must be a non-empty string, not ''"),
        (document({"a": ["x"]}), "object 'a' must be a JSON object, not ['x']"),
        (document([]), "the resolver's field 'objects' must be a JSON object, not []"),
        (document(None), "the resolver's field 'objects' must be a JSON object, not None"),
        (b'{"resolver_version": "v"}', "the resolver's field 'objects' must be a JSON object, not None"),
        (document(version=""), "resolver_version must be a non-empty string, not ''"),
        (document(version=1), "resolver_version must be a non-empty string, not 1"),
        (b'{"objects": {}}', "resolver_version must be a non-empty string, not None"),
        (document(extra=1), "the resolver has an unknown field 'extra'"),
        (b"[]", "the resolver must be a JSON object, not []"),
        (b"", "invalid JSON"),
        (b'{"objects": {}, "resolver_version": "v"', "invalid JSON"),
        (b'{"objects": {}, "objects": {}, "resolver_version": "v"}', "duplicate key 'objects'"),
        (
            b'{"objects": {"a": {"members": ["x"]}, "a": {"members": ["y"]}}, "resolver_version": "v"}',
            "duplicate key 'a'",
        ),
        (
            b'{"resolver_version":"v","objects":{"a":{"members":["x"]},"a":{"members":["y"]}}}',
            "duplicate key 'a'",
        ),
        (b'{"resolver_version":"v","objects":{"a":{"members":["\\ud83d"]}}}', "a lone surrogate"),
        (b'{"resolver_version":"v","objects":{"a":{"members":' + b"[" * 100_000, "nested too deeply"),
        (b"\xef\xbb\xbf" + document(), "byte order mark"),
        (document().replace(b"page#0", b"\xff"), "invalid UTF-8 at byte"),
        (document().replace(b"page#0", b"\\ud83d"), "a lone surrogate in '\\ud83d'"),
    ],
)
def test_a_broken_document(data: bytes, says: str) -> None:
    """Each rule that a JSON document breaks is named with its value and place."""
    with pytest.raises(ResolverError) as caught:
        Resolver.parse(data)
    assert says in str(caught.value)


NAMES = st.sampled_from(["a", "b", "c", "\u00e9", '"', "\x1f", ""])


@given(
    st.dictionaries(
        NAMES,
        st.fixed_dictionaries(
            {"members": st.lists(NAMES, max_size=3)}, optional={"aliases": st.lists(NAMES, max_size=2)}
        ),
        max_size=3,
    )
)
def test_layout_says_nothing(objects: Any) -> None:
    """A document without spaces, as ``declare`` writes it, holds the same or has the same fault as one with them."""

    def found(data: bytes) -> object:
        try:
            resolver = Resolver.parse(data)
        except ResolverError as error:
            return str(error)
        return resolver.to_bytes(), dict(resolver.places())

    written = {"resolver_version": "v1", "objects": objects}
    plain = json.dumps(written, ensure_ascii=False, separators=(",", ":")).encode()
    assert found(plain) == found(document(objects))


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "line 1: the resolver is empty"),
        (b"\n", "line 1: invalid JSON"),
        (rows(head={"object_id": "a", "members": ["x"]}), "line 1 has an unknown field 'members'"),
        (rows(head={"resolver_version": ""}), "resolver_version must be a non-empty string, not ''"),
        (rows(head={"resolver_version": "v", "objects": {}}), "line 1 has an unknown field 'objects'"),
        (rows({"members": ["x"]}), "line 2: object_id must be a non-empty string, not None"),
        (rows({"object_id": "", "members": ["x"]}), "line 2: object_id must be a non-empty string, not ''"),
        (rows({"object_id": "a", "members": ["x"], "resolver_version": "v"}), "line 2 has an unknown field"),
        (
            rows({"object_id": "a", "members": ["x"]}, {"object_id": "a", "members": ["x"]}),
            "line 3: object 'a' is given",
        ),
        (rows({"object_id": "a"}), "object 'a' has no members"),
        (rows({"object_id": "a", "members": ["x"]}, {"object_id": "b", "members": ["x"]}), "belongs to two objects"),
        (rows(7), "line 2 must be a JSON object, not 7"),
        (rows() + b"\n" + rows(), "line 2: invalid JSON"),
        (rows() + b"\xff\n", "line 2: invalid UTF-8"),
        (rows() + b'{"object_id": "a", "members": ["x"], "members": ["x"]}', "line 2: duplicate key 'members'"),
        (document(), "line 1 has an unknown field 'objects'"),
    ],
)
def test_broken_json_lines(data: bytes, says: str) -> None:
    """Each rule that JSON Lines break is named, with the line where there is one."""
    with pytest.raises(ResolverError) as caught:
        Resolver.parse(data, lines=True)
    assert says in str(caught.value)


def test_both_forms_say_the_same() -> None:
    """JSON Lines, with or without the last LF, in any order of fields, are the same resolver as the document."""
    lines = rows({"aliases": ["Page", "p"], "object_id": "page", "members": ["page#0", "page#1"]})
    lines += b'{"object_id": "solo", "members": ["solo"]}'
    one, other = Resolver.parse(document()), Resolver.parse(lines, lines=True)
    assert one.to_bytes() == other.to_bytes() == Resolver.parse(lines + b"\n", lines=True).to_bytes()


def test_lines_split_at_line_feeds_only() -> None:
    """Other separators are part of a string, raw or escaped."""
    odd = "a\u2028b\u0085c"
    row = json.dumps({"object_id": odd, "members": [odd]}, ensure_ascii=False).encode()
    assert Resolver.parse(rows() + row, lines=True).objects() == (odd,)


def test_hash() -> None:
    """The hash is that of the bytes that were parsed; of one that was built, of its own bytes."""
    data = document() + b"\n"
    assert Resolver.parse(data).sha256 == hashlib.sha256(data).hexdigest()
    built = Resolver({"a": ["x"]})
    assert built.sha256 == hashlib.sha256(built.to_bytes()).hexdigest()


@pytest.mark.parametrize(
    ("members", "aliases", "version", "says"),
    [
        ({"a": []}, {}, "v", "object 'a' has no members"),
        ({"a": "xy"}, {}, "v", "must be lists of strings, not 'xy'"),
        ({"a": 7}, {}, "v", "must be lists of strings, not 7"),
        ({"a": ["x"]}, {"b": ["y"]}, "v", "aliases are given for 'b', which is no object"),
        ({"a": ["x"]}, {}, "", "the resolver's version must be a non-empty string"),
        ({"a": ["\ud800"]}, {}, "v", "must not hold a lone surrogate"),
        ({"a": ["x\udfff"]}, {}, "v", "must not hold a lone surrogate"),
        ({7: ["x"]}, {}, "v", "an object ID must be a non-empty string, not 7"),
    ],
)
def test_built_wrongly(members: Any, aliases: Any, version: str, says: str) -> None:
    """A resolver built in code is held to the same rules."""
    with pytest.raises(ResolverError) as caught:
        Resolver(members, aliases=aliases, version=version)
    assert says in str(caught.value)


WORDS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=4)


@given(st.lists(WORDS, unique=True, max_size=12), st.data())
def test_round_trip(strings: list[str], data: st.DataObject) -> None:
    """What is written is read as the same resolver, whatever the strings."""
    members: dict[str, list[str]] = {}
    aliases: dict[str, list[str]] = {}
    for raw in strings:
        owner = data.draw(st.sampled_from((*members, raw)))
        if owner == raw:
            members[raw] = [raw]
        else:
            data.draw(st.sampled_from((members[owner], aliases.setdefault(owner, [])))).append(raw)
    resolver = Resolver(members, aliases=aliases, version="v\u00e9")
    again = Resolver.parse(resolver.to_bytes())
    assert [(again.version, again.sha256)] == [(resolver.version, resolver.sha256)]
    for name in members:
        assert (again.members(name), again.aliases(name)) == (resolver.members(name), resolver.aliases(name))
    assert [again.resolve(raw) for raw in strings] == [resolver.resolve(raw) for raw in strings]


@pytest.mark.parametrize("lines", [False, True])
def test_a_large_corpus(lines: bool) -> None:
    """A hundred thousand objects are read within a few seconds of CPU time."""
    objects = {
        f"doc-{n}": {"members": [f"doc-{n}#0", f"doc-{n}#1"], "aliases": [f"Document {n}"]} for n in range(100_000)
    }
    data = rows(*({"object_id": name, **part} for name, part in objects.items())) if lines else document(objects)
    started = time.process_time()
    resolver = Resolver.parse(data, lines=lines)
    assert time.process_time() - started < 30  # about one second here
    assert (len(resolver), resolver.resolve("Document 99999")) == (100_000, "doc-99999")


def test_hashed_ids_keep_who_owns_whom() -> None:
    """With one key, IDs and the resolver are hashed alike, so that each hashed ID resolves as its plain one did."""
    plain = Resolver.parse(document())
    hashed = hash_resolver(b"key", plain)
    for raw in ("page", "page#0", "page#1", "Page", "solo"):
        owner = plain.resolve(raw)
        assert owner is not None
        assert hashed.resolve(hash_id(b"key", raw)) == hash_id(b"key", owner)
        assert hashed.is_member(hash_id(b"key", raw)) == plain.is_member(raw)
    assert (hashed.resolve("page"), hashed.version) == (None, "v1")
    assert (hash_id(b"key", ""), hash_id(b"key", "a") == hash_id(b"other", "a")) == ("", False)
    assert len(hash_id(b"key", "\ud800")) == 32
