"""The run report of ROP v1: one status, first match wins, and every expected record accounted for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from rop_otel.core.profile.accounts import Accounts, Counts
from rop_otel.core.profile.declaration import Opened
from rop_otel.core.profile.faults import Fault
from rop_otel.core.profile.models import ROP_VERSION
from rop_otel.core.profile.verdicts import RunStatus, Verdict

MISSING: Final = "MISSING"
"""What the verdicts of a report count expected records under that were never seen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A declaration and what its run adds up to: what the status checks look at."""

    opened: Opened
    accounts: Accounts

    @property
    def hard(self) -> bool:
        """Whether the declaration is valid and in hard mode."""
        return self.opened.declaration is not None and self.opened.declaration.mode == "hard"

    def any_of(self, *verdicts: Verdict) -> bool:
        """Return whether hard mode gives a record one of these verdicts."""
        return any(self.accounts.counts.judged.get(verdict) for verdict in verdicts)


StatusCheck = tuple[RunStatus, Callable[[Run], bool]]


def _invalid(run: Run) -> bool:
    accounts = run.accounts
    misplaced = bool(accounts.counts.malformed or accounts.duplicates or accounts.unexpected)
    return run.opened.declaration is None or (run.hard and (misplaced or run.any_of(Verdict.DECLARATION_INVALID)))


def _not_applicable(run: Run) -> bool:
    return not run.hard


def _fail(run: Run) -> bool:
    # Where an unexpected record is observed the run is invalid, so the records that get here were all expected.
    return run.any_of(Verdict.FAIL)


def _unverifiable(run: Run) -> bool:
    unusable = run.any_of(Verdict.SELECTOR_ERROR, Verdict.RESOLUTION_ERROR, Verdict.UNVERIFIABLE)
    return bool(run.accounts.missing) or unusable


def _pass(_: Run) -> bool:
    return True


STATUS_CHECKS: Final[tuple[StatusCheck, ...]] = (
    (RunStatus.RUN_INVALID, _invalid),
    (RunStatus.NOT_APPLICABLE, _not_applicable),
    (RunStatus.RUN_FAIL, _fail),
    (RunStatus.RUN_UNVERIFIABLE, _unverifiable),
    (RunStatus.RUN_PASS, _pass),
)
"""Every status and when it applies, in order."""


def run_status(run: Run, *, checks: Sequence[StatusCheck] = STATUS_CHECKS) -> RunStatus:
    """Return the first status that applies."""
    return next(status for status, applies in checks if applies(run))


@dataclass(frozen=True, slots=True, kw_only=True)
class RunReport:
    """What a run comes to; its records stand apart, since there may be many.

    Args:
        manifest_sha256: SHA-256 of the declaration's exact bytes; empty where there is none, or it cannot be read.
        declaration_id: The declaration's name, where it can be read.
        mode: Its mode, where it can be read.
        run_status: The first that applies.
        expected: The population's size; None unless the declaration is valid and hard.
        verdicts: Every verdict and ``MISSING`` to its count.
        faults: Why the declaration is invalid, in document order.
        accounts: The observed against the declared.
        diagnostics: Beside the verdicts, never deciding one; None for an invalid declaration.
    """

    manifest_sha256: str
    declaration_id: str | None
    mode: str | None
    run_status: RunStatus
    expected: int | None
    verdicts: Mapping[str, int]
    faults: tuple[Fault, ...]
    accounts: Accounts
    diagnostics: Mapping[str, Any] | None

    @property
    def evaluable(self) -> int:
        """PASS and FAIL together."""
        return self.verdicts[Verdict.PASS] + self.verdicts[Verdict.FAIL]

    @property
    def pass_fraction(self) -> float | None:
        """PASS over evaluable, None where that is 0; it never decides a status."""
        return _fraction(self.verdicts[Verdict.PASS], self.evaluable)

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON shape of the contract, without ``records``."""
        accounts = self.accounts
        shape: dict[str, Any] = {
            "rop_version": ROP_VERSION,
            "declaration_id": self.declaration_id,
            "manifest_sha256": self.manifest_sha256 or None,
            "mode": self.mode,
            "run_status": str(self.run_status),
            "expected": self.expected,
            "observed": accounts.counts.observed,
            "verdicts": dict(self.verdicts),
            "evaluable": self.evaluable,
            "pass_fraction": self.pass_fraction,
            "missing_record_ids": list(accounts.missing),
            "duplicate_record_ids": list(accounts.duplicates),
            "unexpected_record_ids": list(accounts.unexpected),
            "malformed_observations": [asdict(malformed) for malformed in sorted(accounts.counts.malformed)],
            "declaration_errors": [asdict(fault) for fault in self.faults],
        }
        return shape if self.diagnostics is None else {**shape, "diagnostics": dict(self.diagnostics)}


def run_report(opened: Opened, accounts: Accounts, *, cutoffs: Sequence[int] = ()) -> RunReport:
    """Put a run's report together.

    Args:
        opened: The declaration, valid or not.
        accounts: What the run adds up to.
        cutoffs: Where the diagnostics give membership.
    """
    run = Run(opened=opened, accounts=accounts)
    counts = accounts.counts
    declaration = opened.declaration
    return RunReport(
        manifest_sha256=opened.manifest_sha256,
        declaration_id=opened.declaration_id,
        mode=opened.mode,
        run_status=run_status(run),
        expected=len(declaration.population or ()) if declaration is not None and run.hard else None,
        verdicts={**{str(v): counts.verdicts.get(v, 0) for v in _REPORTED}, MISSING: len(accounts.missing)},
        faults=opened.faults,
        accounts=accounts,
        diagnostics=None if declaration is None else _diagnostics(counts, cutoffs, hard=run.hard),
    )


_REPORTED: Final = (
    Verdict.PASS,
    Verdict.FAIL,
    Verdict.SELECTOR_ERROR,
    Verdict.RESOLUTION_ERROR,
    Verdict.UNVERIFIABLE,
    Verdict.DECLARATION_INVALID,
    Verdict.NOT_APPLICABLE,
)
"""The verdicts in the report's order."""


def _diagnostics(counts: Counts, cutoffs: Sequence[int], *, hard: bool) -> dict[str, Any]:
    passed, failed = counts.judged.get(Verdict.PASS, 0), counts.judged.get(Verdict.FAIL, 0)
    evaluable, absent = passed + failed, counts.ranks.get(0, 0)
    shape: dict[str, Any] = {}
    if not hard:
        shape["verdicts"] = {str(verdict): counts.judged.get(verdict, 0) for verdict in _REPORTED}
        shape |= {"evaluable": evaluable, "pass_fraction": _fraction(passed, evaluable)}
    shape |= {"past_cutoff": failed - absent, "absent": absent}
    held = {k: sum(count for rank, count in counts.ranks.items() if 0 < rank <= k) for k in cutoffs}
    shape["membership"] = {str(k): {"held": held[k], "fraction": _fraction(held[k], evaluable)} for k in cutoffs}
    if counts.joint:
        shape["trace"] = {str(k): asdict(joint) for k, joint in sorted(counts.joint.items())}
    return shape


def _fraction(part: int, whole: int) -> float | None:
    return part / whole if whole else None
