"""The counts of a run: every observation counted once, against the population that was declared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import islice

from rop_otel.core.profile.accounts import Accounts, Counts, Input, Malformed
from rop_otel.core.profile.declaration import Opened
from rop_otel.core.profile.fieldpath import FieldPath
from rop_otel.core.profile.joint import Compared, Comparison, JointCounter
from rop_otel.core.profile.judge import RECORD_CHECKS, Case, judge
from rop_otel.core.profile.observation import Judgment, Observation
from rop_otel.core.profile.report_terms import Terms
from rop_otel.core.profile.verdicts import Verdict


class RunCounts:
    """Counts observations and gives the verdict of each.

    Args:
        opened: The declaration, valid or not.
        terms: What is measured beside the verdicts; None: what the declaration seals.

    Attributes:
        comparison: Compares selections with judged objects; None where there is no trace set.
        trace_field: Where a record carries its judged objects; None likewise.
    """

    def __init__(self, opened: Opened, *, terms: Terms | None = None) -> None:
        self.declaration = opened.declaration
        self.terms = Terms.of(opened) if terms is None else terms
        self._hard = self.declaration is not None and self.declaration.mode == "hard"
        self.population: tuple[str, ...] | None = None
        self.comparison: Comparison | None = None
        self.trace_field: FieldPath | None = None
        if self.declaration is not None:
            self.population = self.declaration.population
            if self.terms.trace is not None:
                self.comparison = Comparison(self.declaration.resolver)
                self.trace_field = FieldPath.parse(self.terms.trace)
        self._in_order = 0
        self._unseen: set[str] | None = None
        self.duplicates: set[str] = set()
        self.unexpected: set[str] = set()
        self.observed = 0
        self.verdicts: Counter[Verdict] = Counter()
        self.judged: Counter[Verdict] = Counter()
        self.ranks: Counter[int] = Counter()
        self.nonmatch = 0
        self.joint = JointCounter(self.terms.cutoffs)
        self.malformed: list[Malformed] = []
        self.inputs: list[Input] = []

    @property
    def unseen(self) -> set[str]:
        """The record IDs of the population that were not observed."""
        if self._unseen is None:
            self._unseen = set(islice(self.population or (), self._in_order, None))
        return self._unseen

    @unseen.setter
    def unseen(self, names: set[str]) -> None:
        self._unseen = names

    @cached_property
    def _expected(self) -> frozenset[str]:
        return frozenset(self.population or ())

    def observe(self, observation: Observation) -> Judgment:
        """Assess one observation and count it."""
        judgment = hard = judge(observation, self.declaration)
        if self.declaration is not None:
            if judgment.verdict is Verdict.NOT_APPLICABLE:
                hard = judge(observation, self.declaration, checks=RECORD_CHECKS)
            compared = self._count(observation, hard)
            if compared is not None and judgment is hard:
                agreement, _, trace_rank = compared
                judgment = replace(judgment, agreement=agreement, trace_rank=trace_rank or None)
        self.verdicts[judgment.verdict] += 1
        self.place(observation.record_id)
        return judgment

    def _count(self, observation: Observation, hard: Judgment) -> Compared | None:
        """Count what hard mode gives a record, and return how it compares, where it does."""
        case = Case(observation, self.declaration)
        rank = hard.rank or 0
        self.count_judged(hard.verdict, rank, length=len(case.returned))
        if self.comparison is None or hard.verdict not in {Verdict.PASS, Verdict.FAIL}:
            return None
        compared = self.comparison.compare(case.keys, observation.traced, case.returned, rank=rank)
        self.joint.add((compared,))
        return compared

    def count_judged(self, verdict: Verdict, rank: int, *, length: int) -> None:
        """Count the verdict that hard mode gives a record.

        Args:
            verdict: The verdict.
            rank: Of a PASS or FAIL; 0 where the rule holds on no prefix.
            length: How many IDs were returned.
        """
        self.judged[verdict] += 1
        if verdict in {Verdict.PASS, Verdict.FAIL}:
            self.ranks[rank] += 1
            self.nonmatch += not rank and length < (self.terms.depth or 0)

    def place(self, *record_ids: str) -> None:
        """Count observed record IDs against the population."""
        self.observed += len(record_ids)
        if self.population is None:
            return
        if self._unseen is None:  # so far in the order of the population, as most files are written: no set is needed
            end = self._in_order + len(record_ids)
            if self.population[self._in_order : end] == record_ids:
                self._in_order = end
                return
        unseen = self.unseen
        for record_id in record_ids:
            if record_id in unseen:
                unseen.remove(record_id)
            elif record_id in self._expected or record_id in self.unexpected:
                self.duplicates.add(record_id)
            else:
                self.unexpected.add(record_id)

    def add_judged(self, ranks: Sequence[int], *, nonmatch: int = 0, compared: Iterable[Compared] = ()) -> None:
        """Count records of a valid declaration that hard mode gives PASS or FAIL, without placing them.

        Args:
            ranks: One each; 0 where the rule holds on no prefix.
            nonmatch: How many of those with 0 have a list that is shorter than the stored depth; 0 without a depth.
            compared: How each compares, where there is a trace set.
        """
        if self.declaration is None:
            raise ValueError("an invalid declaration assesses no record")
        cutoff = self.declaration.cutoff
        passed = sum(map(cutoff.__ge__, ranks)) - ranks.count(0)
        counted = {Verdict.PASS: passed, Verdict.FAIL: len(ranks) - passed}
        self.ranks.update(ranks)
        self.judged.update(counted)
        self.verdicts.update(counted if self._hard else {Verdict.NOT_APPLICABLE: len(ranks)})
        self.nonmatch += nonmatch
        self.joint.add(compared)

    def refuse(self, malformed: Malformed) -> None:
        """Count a line that is no observation."""
        self.malformed.append(malformed)

    def counts(self) -> Counts:
        """Return what adds up."""
        return Counts(
            observed=self.observed,
            verdicts=dict(self.verdicts),
            judged=dict(self.judged),
            ranks=dict(self.ranks),
            nonmatch=self.nonmatch,
            joint=None if self.comparison is None else self.joint.joint(),
            malformed=tuple(self.malformed),
            inputs=tuple(self.inputs),
        )

    def accounts(self) -> Accounts:
        """Return the run as it stands."""
        return Accounts(
            counts=self.counts(),
            missing=tuple(sorted(self.unseen)),
            duplicates=tuple(sorted(self.duplicates)),
            unexpected=tuple(sorted(self.unexpected)),
        )
