"""The seven verdicts, first match wins: an ordered list of checks, each of which decides or passes on."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Final

from rop_otel.core.escapes import LONGEST_READ
from rop_otel.core.profile.declaration import Declaration
from rop_otel.core.profile.fieldpath import ABSENT
from rop_otel.core.profile.membership import Membership
from rop_otel.core.profile.observation import Judgment, Observation
from rop_otel.core.profile.verdicts import Verdict


class Case:
    """One observation and one declaration. A value that several checks need is computed once.

    Args:
        observation: What the record holds.
        declaration: None where it is invalid.
    """

    def __init__(self, observation: Observation, declaration: Declaration | None) -> None:
        self.observation = observation
        self._declaration = declaration

    @property
    def valid(self) -> bool:
        """Whether the declaration is."""
        return self._declaration is not None

    @property
    def declaration(self) -> Declaration:
        """The declaration, which must be valid: every check but the first may rely on it."""
        if self._declaration is None:
            raise ValueError("the declaration is invalid")
        return self._declaration

    @cached_property
    def given(self) -> tuple[object, ...]:
        """The values of the selection field, one or several."""
        found = self.observation.selection
        return tuple(found) if isinstance(found, list) and self.declaration.witness is None else (found,)

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """The strings among them."""
        return tuple(item for item in self.given if isinstance(item, str))

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """The selected keys: those strings, decoded where they are witnesses that the map holds."""
        witness = self.declaration.witness
        return self.texts if witness is None else tuple(witness.keys.get(text, "") for text in self.texts)

    @cached_property
    def returned(self) -> tuple[str, ...]:
        """The strings among the returned IDs."""
        found = self.observation.returned
        return tuple(item for item in found if isinstance(item, str)) if isinstance(found, list) else ()

    @cached_property
    def rank(self) -> int | None:
        """Length of the shortest prefix of the returned IDs on which the membership rule holds."""
        resolver = self.declaration.resolver
        known = [key for key in self.keys if resolver.resolve(key) is not None]
        return Membership(known, rule=self.declaration.rule, resolver=resolver).rank(self.returned)

    @property
    def object_id(self) -> str | None:
        """The acceptable object that the rule holds for: the one that the last ID of that prefix belongs to."""
        return None if self.rank is None else self.declaration.resolver.resolve(self.returned[self.rank - 1])


Check = Callable[[Case], Judgment | None]


def declaration_invalid(case: Case) -> Judgment | None:
    """Decide every record of an invalid declaration, and one that contradicts the declaration."""
    why = case.observation.contradiction if case.valid else "the declaration or a file it names is invalid"
    return None if why is None else _judgment(Verdict.DECLARATION_INVALID, declaration_invalid, why)


def not_applicable(case: Case) -> Judgment | None:
    """Decide every record outside hard mode."""
    mode = case.declaration.mode
    if mode == "hard":
        return None
    return _judgment(Verdict.NOT_APPLICABLE, not_applicable, f"the declaration is in {mode} mode")


def selection_missing(case: Case) -> Judgment | None:
    """Decide where the selected key, or its witness, is missing or no non-empty string, or the witness has no hash."""
    what = "the selected key" if case.declaration.witness is None else "the witness"
    if not case.given:
        return _judgment(Verdict.SELECTOR_ERROR, selection_missing, f"{what} is an empty list")
    bad = next((item for item in case.given if not isinstance(item, str) or not item), None)
    if bad is not None or None in case.given:
        return _judgment(Verdict.SELECTOR_ERROR, selection_missing, f"{what} {_no_text(bad)}")
    given = case.observation.witness_hash
    if case.declaration.witness is not None and not (isinstance(given, str) and _SHA256.fullmatch(given)):
        why = "is not 64 lower-case hex digits" if isinstance(given, str) and given else _no_text(given)
        return _judgment(Verdict.SELECTOR_ERROR, selection_missing, f"the hash of the witness {why}")
    return None


def selection_unresolved(case: Case) -> Judgment | None:
    """Decide where the map does not hold the witness, or the resolver does not know a selected key."""
    witness = case.declaration.witness
    for text, key in zip(case.texts, case.keys, strict=True):
        if witness is not None and text not in witness.keys:
            why = f"the inverse map does not hold the witness {_shown(text)}"
            return _judgment(Verdict.RESOLUTION_ERROR, selection_unresolved, why)
        if case.declaration.resolver.resolve(key) is None:
            why = f"the resolver does not know the selected key {_shown(key)}"
            return _judgment(Verdict.RESOLUTION_ERROR, selection_unresolved, why)
    return None


def witness_unbound(case: Case) -> Judgment | None:
    """Decide where the hash beside a witness does not bind it to this record of this declaration."""
    witness = case.declaration.witness
    if witness is None:
        return None
    [text], [key] = case.texts, case.keys
    expected = witness.binding.sha256(record_id=case.observation.record_id, witness=text, selection=key)
    if case.observation.witness_hash == expected:
        return None
    why = f"the hash of the witness {_shown(text)} binds it to something else"
    return _judgment(Verdict.SELECTOR_ERROR, witness_unbound, why)


def returned_unusable(case: Case) -> Judgment | None:
    """Decide where the returned IDs are missing or not a list of strings."""
    found, text = case.observation.returned, case.declaration.output_field.text
    if found is ABSENT:
        return _judgment(Verdict.UNVERIFIABLE, returned_unusable, f"there is no list at {text!r}")
    if not isinstance(found, list):
        return _judgment(Verdict.UNVERIFIABLE, returned_unusable, f"{text!r} holds {_kind(found)}, not a list")
    for rank, item in enumerate(found, 1):
        if not isinstance(item, str):
            why = f"the returned ID at rank {rank} is {_kind(item)}, not a string"
            return _judgment(Verdict.UNVERIFIABLE, returned_unusable, why)
    return None


def returned(case: Case) -> Judgment | None:
    """Decide where the membership rule holds within the cutoff."""
    if case.rank is None or case.rank > case.declaration.cutoff:
        return None
    return Judgment(
        verdict=Verdict.PASS,
        check=returned.__name__,
        reason=pass_reason(case.rank, case.object_id, cutoff=case.declaration.cutoff),
        rank=case.rank,
        object_id=case.object_id,
    )


def not_returned(case: Case) -> Judgment | None:
    """Decide what is left: the membership rule does not hold within the cutoff."""
    return Judgment(
        verdict=Verdict.FAIL,
        check=not_returned.__name__,
        reason=fail_reason(case.rank, case.object_id, cutoff=case.declaration.cutoff, length=len(case.returned)),
        rank=case.rank,
        object_id=case.object_id,
    )


DECLARATION_CHECKS: Final[tuple[Check, ...]] = (declaration_invalid, not_applicable)
"""The checks that depend on the declaration alone."""

RECORD_CHECKS: Final[tuple[Check, ...]] = (
    selection_missing,
    selection_unresolved,
    witness_unbound,
    returned_unusable,
    returned,
    not_returned,
)
"""The checks of a record against a valid declaration, as hard mode applies them."""

CHECKS: Final = DECLARATION_CHECKS + RECORD_CHECKS
"""Every check in its order."""


def judge(observation: Observation, declaration: Declaration | None, *, checks: Sequence[Check] = CHECKS) -> Judgment:
    """Return the result of the first check that decides.

    Args:
        observation: What the record holds.
        declaration: None where it is invalid.
        checks: In order; the last decides whatever is left.
    """
    case = Case(observation, declaration)
    decided = (judgment for check in checks if (judgment := check(case)) is not None)
    return next(decided)


def pass_reason(rank: int, object_id: str | None, *, cutoff: int) -> str:
    """Say in one sentence why a record passes."""
    return f"{_shown(object_id)} is returned at rank {rank}, within the cutoff of {cutoff}"


def fail_reason(rank: int | None, object_id: str | None, *, cutoff: int, length: int) -> str:
    """Say in one sentence why a record fails."""
    if rank is None:
        return f"no acceptable object among the {length} returned IDs"
    return f"{_shown(object_id)} is returned at rank {rank}, past the cutoff of {cutoff}"


def _judgment(verdict: Verdict, check: Check, reason: str) -> Judgment:
    return Judgment(verdict=verdict, check=check.__name__, reason=reason)


def _no_text(value: object) -> str:
    if value is ABSENT:
        return "is missing"
    return "is the empty string" if value == "" else f"is {_kind(value)}, not a string"


def _kind(value: object) -> str:
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    names = {str: "a string", int: "a number", float: "a number", list: "a list", dict: "an object"}
    return names.get(type(value), "something else")


def _shown(text: str | None) -> str:
    return repr(text) if text is None or len(text) <= LONGEST_READ else f"{text[:LONGEST_READ]!r}…"


_SHA256: Final = re.compile(r"[0-9a-f]{64}")
