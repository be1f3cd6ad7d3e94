"""Partial reports: the counts of one shard of a run. Combined in any order, they give the report of one pass."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Final

import msgspec

from rop_otel.core.profile.accounts import Accounts, Counts, Input, Malformed
from rop_otel.core.profile.joint import Joint
from rop_otel.core.profile.json_values import decode, encode
from rop_otel.core.profile.outcome_counts import RunCounts
from rop_otel.core.profile.report_terms import Terms
from rop_otel.core.profile.verdicts import Verdict

FORMAT: Final = "rop-partial/v2"

_Count = Annotated[int, msgspec.Meta(ge=0)]


class PartialError(ValueError):
    """A line that is no part, or parts that do not belong together; the message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Partial:
    """One shard of a run.

    Args:
        manifest_sha256: SHA-256 of the declaration against which it was assessed.
        terms: Its cutoffs, trace and depth.
        counts: Its counts.
        seen: A bit per record ID of the population, in its order: observed at least once.
        repeated: The same: observed more than once.
        unexpected: Observed record IDs outside the population.
        unexpected_repeated: Those of them observed more than once.
    """

    manifest_sha256: str
    terms: Terms
    counts: Counts
    seen: int = 0
    repeated: int = 0
    unexpected: frozenset[str] = frozenset()
    unexpected_repeated: frozenset[str] = frozenset()

    @classmethod
    def of(cls, counts: RunCounts, *, manifest_sha256: str) -> Partial:
        """Return what the counts of a run hold."""
        population = counts.population or ()
        return cls(
            manifest_sha256=manifest_sha256,
            terms=counts.terms,
            counts=counts.counts(),
            seen=_bits([name not in counts.unseen for name in population]),
            repeated=_bits([name in counts.duplicates for name in population]) if counts.duplicates else 0,
            unexpected=frozenset(counts.unexpected),
            unexpected_repeated=frozenset(counts.duplicates & counts.unexpected),
        )

    def __add__(self, other: Partial) -> Partial:
        if (self.manifest_sha256, self.terms) != (other.manifest_sha256, other.terms):
            raise PartialError(
                "the parts were made with different declarations, or other --at, --trace, --depth, --near"
            )
        both = self.unexpected & other.unexpected
        return Partial(
            manifest_sha256=self.manifest_sha256,
            terms=self.terms,
            counts=self.counts + other.counts,
            seen=self.seen | other.seen,
            repeated=self.repeated | other.repeated | (self.seen & other.seen),
            unexpected=self.unexpected | other.unexpected,
            unexpected_repeated=self.unexpected_repeated | other.unexpected_repeated | both,
        )

    def accounts(self, population: Sequence[str] | None) -> Accounts:
        """Return the run accounted for.

        Args:
            population: The declaration's, None where it is invalid or has none.
        """
        names = population or ()
        duplicates = {*_named(self.repeated, names), *self.unexpected_repeated}
        return Accounts(
            counts=self.counts,
            missing=tuple(_named(~self.seen, names)),
            duplicates=tuple(sorted(duplicates)),
            unexpected=tuple(sorted(self.unexpected)),
        )

    def to_bytes(self) -> bytes:
        """Return the part as one line of JSON, without LF."""
        counts = self.counts
        shape = _Shape(
            rop_partial=FORMAT,
            manifest_sha256=self.manifest_sha256,
            terms=self.terms,
            observed=counts.observed,
            verdicts=counts.verdicts,
            judged=counts.judged,
            ranks=counts.ranks,
            nonmatch=counts.nonmatch,
            joint=counts.joint,
            malformed=counts.malformed,
            inputs=counts.inputs,
            seen=_packed(self.seen),
            repeated=_packed(self.repeated),
            unexpected=sorted(self.unexpected),
            unexpected_repeated=sorted(self.unexpected_repeated),
        )
        return encode(shape)

    @classmethod
    def parse(cls, line: bytes, *, bitmap_bytes: int) -> Partial:
        """Read what :meth:`to_bytes` wrote.

        Args:
            line: The line.
            bitmap_bytes: How long a bit for each record ID of the population may be.

        Raises:
            PartialError: The line is no part.
        """
        try:
            shape = decode(line, _Shape)
            if shape.rop_partial != FORMAT:
                raise PartialError(f"the format is {shape.rop_partial!r}, not {FORMAT!r}")
            seen, repeated = _unpacked(shape.seen, bitmap_bytes), _unpacked(shape.repeated, bitmap_bytes)
        except (zlib.error, ValueError, RecursionError) as error:
            raise PartialError(str(error)) from None
        return cls(
            manifest_sha256=shape.manifest_sha256,
            terms=shape.terms,
            counts=Counts(
                observed=shape.observed,
                verdicts=shape.verdicts,
                judged=shape.judged,
                ranks=shape.ranks,
                nonmatch=shape.nonmatch,
                joint=shape.joint,
                malformed=shape.malformed,
                inputs=shape.inputs,
            ),
            seen=seen,
            repeated=repeated,
            unexpected=frozenset(shape.unexpected),
            unexpected_repeated=frozenset(shape.unexpected_repeated),
        )


class _Shape(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    rop_partial: str
    manifest_sha256: str
    terms: Terms
    observed: _Count
    verdicts: Mapping[Verdict, _Count]
    judged: Mapping[Verdict, _Count]
    ranks: Mapping[_Count, _Count]
    nonmatch: _Count
    joint: Joint | None
    malformed: tuple[Malformed, ...]
    inputs: tuple[Input, ...]
    seen: str
    repeated: str
    unexpected: list[str]
    unexpected_repeated: list[str]


def _bits(flags: Sequence[bool]) -> int:
    held = bytearray(len(flags) // 8 + 1)
    for place, flag in enumerate(flags):
        held[place // 8] |= flag << place % 8
    return int.from_bytes(held, "little")


def _named(bits: int, names: Sequence[str]) -> list[str]:
    held = (bits & ((1 << len(names)) - 1)).to_bytes(len(names) // 8 + 1, "little")
    return [name for place, name in enumerate(names) if held[place // 8] >> place % 8 & 1]


def _packed(bits: int) -> str:
    return base64.b64encode(zlib.compress(bits.to_bytes((bits.bit_length() + 7) // 8, "little"))).decode()


def _unpacked(text: str, most: int) -> int:
    inflate = zlib.decompressobj()
    data = inflate.decompress(base64.b64decode(text, validate=True), most + 1)
    if len(data) > most or not inflate.eof:
        raise ValueError("a bitmap is cut short or too large")
    return int.from_bytes(data, "little")
