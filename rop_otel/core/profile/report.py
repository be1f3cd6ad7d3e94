"""The run report of ROP v1: one status, first match wins, and every expected record accounted for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from rop_otel.core.profile.accounts import Accounts, Counts
from rop_otel.core.profile.declaration import Opened
from rop_otel.core.profile.declaration_faults import Fault
from rop_otel.core.profile.declaration_models import ROP_VERSION
from rop_otel.core.profile.joint import Agreement, Joint
from rop_otel.core.profile.report_terms import Terms
from rop_otel.core.profile.verdicts import RunStatus, Verdict
from rop_otel.version import DISTRIBUTION, installed_version

MISSING: Final = "MISSING"
"""What the verdicts of a report count expected records under that were never seen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A declaration and the accounts of its run, which the status checks use."""

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
    """The result of a run. Its records are kept apart, since there may be many.

    Args:
        manifest_sha256: SHA-256 of the declaration's exact bytes; empty where there is none, or it cannot be read.
        declaration_id: The declaration's name, where it can be read.
        mode: Its mode, where it can be read.
        query_form: How queries were built, as a valid one says.
        run_status: The first that applies.
        expected: The population's size; None unless the declaration is valid and hard.
        verdicts: Every verdict and ``MISSING`` to its count.
        faults: Why the declaration is invalid, in document order.
        accounts: The observed against the declared.
        joint: Selections and judged objects in the same rankings; None without a trace set or a valid declaration.
        partition: Why records fail, by cutoff; None for an invalid declaration.
        diagnostics: What hard mode would give; None in it, and for an invalid declaration.
    """

    manifest_sha256: str
    declaration_id: str | None
    mode: str | None
    query_form: str | None
    run_status: RunStatus
    expected: int | None
    verdicts: Mapping[str, int]
    faults: tuple[Fault, ...]
    accounts: Accounts
    joint: Mapping[str, Any] | None
    partition: Mapping[str, Any] | None
    diagnostics: Mapping[str, Any] | None

    @property
    def evaluable(self) -> int:
        """PASS and FAIL together."""
        return self.verdicts[Verdict.PASS] + self.verdicts[Verdict.FAIL]

    @property
    def pass_fraction(self) -> float | None:
        """PASS over evaluable, None where that is 0; it never decides a status."""
        return _fraction(self.verdicts[Verdict.PASS], self.evaluable)

    @property
    def deciding(self) -> Accounts:
        """The accounts as far as the mode has them decide: outside hard mode without the three lists."""
        return self.accounts if self.diagnostics is None else Accounts(counts=self.accounts.counts)

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON shape of the contract, without ``records``."""
        accounts = self.accounts
        shape: dict[str, Any] = {
            "rop_version": ROP_VERSION,
            "declaration_id": self.declaration_id,
            "manifest_sha256": self.manifest_sha256 or None,
            "mode": self.mode,
            "evaluator": {"name": DISTRIBUTION, "version": installed_version()},
            "query_form": self.query_form,
            "inputs": [each.as_dict() for each in sorted(accounts.counts.inputs)],
            "run_status": str(self.run_status),
            "expected": self.expected,
            "observed": accounts.counts.observed,
            "verdicts": dict(self.verdicts),
            "evaluable": self.evaluable,
            "pass_fraction": self.pass_fraction,
            "joint": self.joint,
            "partition": self.partition,
            **_lists(self.deciding),
            "malformed_observations": [asdict(malformed) for malformed in sorted(accounts.counts.malformed)],
            "declaration_errors": [asdict(fault) for fault in self.faults],
        }
        return shape if self.diagnostics is None else {**shape, "diagnostics": self.diagnostics}


def run_report(opened: Opened, accounts: Accounts, *, terms: Terms | None = None) -> RunReport:
    """Put a run's report together.

    Args:
        opened: The declaration, valid or not.
        accounts: The accounts of the run, at these terms.
        terms: What is measured beside the verdicts; None: what the declaration seals.
    """
    terms = Terms.of(opened) if terms is None else terms
    run = Run(opened=opened, accounts=accounts)
    counts, declaration = accounts.counts, opened.declaration
    population = None if declaration is None else declaration.population
    expected = None if population is None else len(population)
    return RunReport(
        manifest_sha256=opened.manifest_sha256,
        declaration_id=opened.declaration_id,
        mode=opened.mode,
        query_form=None if declaration is None else declaration.query_form,
        run_status=run_status(run),
        expected=expected if run.hard else None,
        verdicts=_verdicts(counts.verdicts, len(accounts.missing) if run.hard else 0),
        faults=opened.faults,
        accounts=accounts,
        joint=None
        if declaration is None or counts.joint is None
        else _joint(counts.joint, terms, sealed=declaration.trace_field is not None),
        partition=None if declaration is None else _partition(counts, terms, sealed=declaration.depth is not None),
        diagnostics=None if declaration is None or run.hard else _diagnostics(accounts, expected),
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


def _diagnostics(accounts: Accounts, expected: int | None) -> dict[str, Any]:
    """Return what hard mode would give."""
    judged = accounts.counts.judged
    evaluable = judged.get(Verdict.PASS, 0) + judged.get(Verdict.FAIL, 0)
    return {
        "expected": expected,
        "verdicts": _verdicts(judged, len(accounts.missing)),
        "evaluable": evaluable,
        "pass_fraction": _fraction(judged.get(Verdict.PASS, 0), evaluable),
        **_lists(accounts),
    }


def _joint(joint: Joint, terms: Terms, *, sealed: bool) -> dict[str, Any]:
    return {
        "field": terms.trace,
        "sealed": sealed,
        "agreement": {str(each): joint.agreement.get(each, 0) for each in Agreement},
        "at": {str(cutoff): asdict(joint.at[cutoff]) for cutoff in terms.cutoffs},
    }


def _partition(counts: Counts, terms: Terms, *, sealed: bool) -> dict[str, Any]:
    nonmatch = None if terms.depth is None else counts.nonmatch
    at = {}
    for cutoff in terms.cutoffs:
        past = {rank: count for rank, count in counts.ranks.items() if rank > cutoff}
        near = sum(count for rank, count in past.items() if terms.near is None or rank <= terms.near)
        absent = counts.ranks.get(0, 0)
        at[str(cutoff)] = {"past_cutoff": sum(past.values()), "near": near, "absent": absent, "nonmatch": nonmatch}
    return {"depth": terms.depth, "sealed": None if terms.depth is None else sealed, "near": terms.near, "at": at}


def _verdicts(counted: Mapping[Verdict, int], missing: int) -> dict[str, int]:
    return {**{str(verdict): counted.get(verdict, 0) for verdict in _REPORTED}, MISSING: missing}


def _lists(accounts: Accounts) -> dict[str, list[str]]:
    return {
        "missing_record_ids": list(accounts.missing),
        "duplicate_record_ids": list(accounts.duplicates),
        "unexpected_record_ids": list(accounts.unexpected),
    }


def _fraction(part: int, whole: int) -> float | None:
    return part / whole if whole else None
