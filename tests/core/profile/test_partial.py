"""Partial reports: any split, merged in any order, is the one pass."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Callable
from functools import reduce
from operator import add

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rop_otel.core.profile.consistency import Recount, contradiction_in
from rop_otel.core.profile.declaration import Opened
from rop_otel.core.profile.intake import Entry, Intake
from rop_otel.core.profile.joint import Agreement, AtCutoff, Joint, Outcomes
from rop_otel.core.profile.outcome_counts import RunCounts
from rop_otel.core.profile.partial import Partial, PartialError
from rop_otel.core.profile.report import run_report
from rop_otel.core.profile.report_terms import Terms
from tests.core.profile.declared import changed, opened
from tests.core.profile.record_lines import lines

DECLARATIONS = {
    "hard": opened(),
    "sealed": opened(trace_field="gold", depth=4, rule="all"),
    "soft": opened(mode="soft"),
    "open without population": opened(mode="open", population=None),
    "invalid": changed(lambda document: document.update(extra=1)),
}


def terms_of(declaration: Opened) -> Terms:
    sealed = declaration.declaration is not None and declaration.declaration.trace_field is not None
    return Terms.of(declaration, at=(1,), trace=None if sealed else "gold", near=5)


def tally_of(
    declaration: Opened,
    shard: list[tuple[int, bytes]],
    *,
    file: str = "f",
    keep: Callable[[Entry], None] | None = None,
) -> RunCounts:
    tally = RunCounts(declaration, terms=terms_of(declaration))
    intake = Intake(declaration, tally, keep=keep)
    for number, line in shard:
        intake.block(line + b"\n", file=file, line=number)
    return tally


def part(
    declaration: Opened,
    shard: list[tuple[int, bytes]],
    *,
    file: str = "f",
    keep: Callable[[Entry], None] | None = None,
) -> Partial:
    tally = tally_of(declaration, shard, file=file, keep=keep)
    found = Partial.of(tally, manifest_sha256=declaration.manifest_sha256)
    return Partial.parse(found.to_bytes(), bitmap_bytes=8)


@pytest.mark.parametrize("name", DECLARATIONS)
@given(data=st.data(), records=st.lists(lines(), max_size=10), shards=st.integers(1, 4))
def test_any_split_in_any_order_is_the_one_pass(
    name: str, data: st.DataObject, records: list[bytes], shards: int
) -> None:
    """Records dealt out to shards, written, read and merged in any order give the report of one pass, byte for byte."""
    declaration = DECLARATIONS[name]
    numbered = list(enumerate(records, 1))
    dealt: list[list[tuple[int, bytes]]] = [[] for _ in range(shards)]
    for each in numbered:
        dealt[data.draw(st.integers(0, shards - 1))].append(each)
    parts = data.draw(st.permutations([part(declaration, shard) for shard in dealt]))
    total, whole_tally = reduce(add, parts), tally_of(declaration, numbered)
    population = declaration.declaration.population if declaration.declaration else None
    merged = run_report(declaration, total.accounts(population), terms=total.terms)
    whole = run_report(declaration, whole_tally.accounts(), terms=whole_tally.terms)
    assert json.dumps(merged.as_dict()) == json.dumps(whole.as_dict())


@pytest.mark.parametrize("name", DECLARATIONS)
@given(shards=st.lists(st.lists(lines(), max_size=6), min_size=1, max_size=3))
def test_what_was_counted_contradicts_nothing(name: str, shards: list[list[bytes]]) -> None:
    """Whatever the records, the numbers of a part, and of parts merged, can all be true, and its records agree."""
    declaration = DECLARATIONS[name]
    valid = declaration.declaration
    names = None if valid is None else valid.population
    places = None if names is None else {each: at for at, each in enumerate(names)}
    entries: list[Entry] = []
    total: Partial | None = None
    for number, shard in enumerate(shards):
        kept: list[Entry] = []
        one = part(declaration, list(enumerate(shard, 1)), file=f"{number}", keep=kept.append)
        entries += kept
        total = one if total is None else total + one
        for partial, records in ((one, kept), (total, entries)):
            assert contradiction_in(partial, declaration) is None
            recount = Recount(declaration, partial.terms, places)
            assert [recount.add(entry) for entry in sorted(records)] == [None] * len(records)
            assert recount.contradiction_in(partial) is None


def test_a_part_knows_of_each_record_id_whether_it_was_seen() -> None:
    """In a population of any size, once, more than once or never."""
    names = tuple(f"r{number:02}" for number in range(20))
    declaration = opened(population=names)
    lines = [b'{"record_id":"%s"}' % name.encode() for name in (*names[::3], *names[::6])]
    accounts = part(declaration, list(enumerate(lines, 1))).accounts(names)
    assert accounts.missing == tuple(name for name in names if name not in names[::3])
    assert accounts.duplicates == names[::6]


@pytest.mark.parametrize(
    ("shards", "duplicates"),
    [
        (["r8", "r9"], ()),
        (["r9", "r9"], ("r9",)),
        (["r9 r9", "r8"], ("r9",)),
        (["r8", "r9 r9"], ("r9",)),
        (["r8 r8", "r9 r9"], ("r8", "r9")),
    ],
)
def test_an_unexpected_id_is_repeated_within_a_part_or_across(shards: list[str], duplicates: tuple[str, ...]) -> None:
    """Either way it is a duplicate, beside being unexpected."""
    parts = [
        part(DECLARATIONS["hard"], [(1, b'{"record_id":"%s"}' % name.encode()) for name in shard.split()])
        for shard in shards
    ]
    accounts = reduce(add, parts).accounts(("r1", "r2", "r3"))
    assert accounts.duplicates == duplicates
    assert accounts.unexpected == tuple(sorted({name for shard in shards for name in shard.split()}))


@pytest.mark.parametrize("bitmap", [zlib.compress(b"12345678")[:-1], zlib.compress(b"123456789")])
def test_a_bitmap_cut_short_or_too_large_is_refused(bitmap: bytes) -> None:
    """Neither is read as another one."""
    line = part(DECLARATIONS["hard"], []).to_bytes()
    spoilt = line.replace(b'"seen":"' + base64.b64encode(zlib.compress(b"")), b'"seen":"' + base64.b64encode(bitmap))
    assert spoilt != line
    with pytest.raises(PartialError, match=r"^a bitmap is cut short or too large$"):
        Partial.parse(spoilt, bitmap_bytes=8)


def test_parts_of_different_runs_do_not_mix() -> None:
    """Another declaration, or anything else that is measured: refused."""
    one = part(DECLARATIONS["hard"], [])
    refused = r"^the parts were made with different declarations, or other --at, --trace, --depth, --near$"
    with pytest.raises(PartialError, match=refused):
        one + part(DECLARATIONS["soft"], [])
    for asked in ({}, {"trace": "gold"}, {"near": 5}, {"depth": 9}, {"at": (2,)}):
        terms = Terms.of(DECLARATIONS["hard"], **asked)
        other = Partial.of(RunCounts(DECLARATIONS["hard"], terms=terms), manifest_sha256=one.manifest_sha256)
        with pytest.raises(PartialError, match=refused):
            one + other


def test_a_part_of_another_format_names_both() -> None:
    """A part that another version wrote is told from one that is damaged."""
    line = part(DECLARATIONS["hard"], []).to_bytes().replace(b"rop-partial/v2", b"rop-partial/v9")
    with pytest.raises(PartialError, match=r"^the format is 'rop-partial/v9', not 'rop-partial/v2'$"):
        Partial.parse(line, bitmap_bytes=8)


def test_joint_outcomes_add_up() -> None:
    """Each of the four by itself, of each agreement at each cutoff."""

    def joint(factor: int) -> Joint:
        outcomes = Outcomes(both=factor, selected_only=2 * factor, trace_only=3 * factor, neither=4 * factor)
        other = Outcomes(both=5 * factor, selected_only=6 * factor, trace_only=7 * factor, neither=8 * factor)
        agreement = {each: place * factor for place, each in enumerate(Agreement)}
        at = {1: AtCutoff(same=outcomes, different=other), 3: AtCutoff(same=other, different=outcomes)}
        return Joint(agreement=agreement, at=at)

    assert joint(1) + joint(10) == joint(11)


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"{}",
        b"[]",
        b"\xff",
        b"[" * 5000,
        part(DECLARATIONS["hard"], []).to_bytes().replace(b"rop-partial/v2", b"rop-partial/v9"),
        part(DECLARATIONS["hard"], []).to_bytes().replace(b'"seen":"', b'"seen":"!'),
        part(DECLARATIONS["hard"], []).to_bytes().replace(b'"seen":"eJ', b'"seen":"eK'),
        part(DECLARATIONS["hard"], []).to_bytes().replace(b'"observed":0', b'"observed":-1'),
    ],
)
def test_what_is_no_part_is_refused(line: bytes) -> None:
    """Anything but a part is an error that says so."""
    with pytest.raises(PartialError):
        Partial.parse(line, bitmap_bytes=8)
