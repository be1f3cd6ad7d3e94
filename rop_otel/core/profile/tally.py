"""A run while it goes on: every observation counted once, against the population that was declared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from rop_otel.core.profile.accounts import Accounts, Counts, Joint, Malformed
from rop_otel.core.profile.declaration import Declaration, Opened
from rop_otel.core.profile.fieldpath import ABSENT
from rop_otel.core.profile.judge import RECORD_CHECKS, judge
from rop_otel.core.profile.membership import Membership
from rop_otel.core.profile.observation import Judgment, Observation
from rop_otel.core.profile.verdicts import Verdict


class Tally:
    """Counts observations and says of each what its verdict is.

    Args:
        opened: The declaration, valid or not.
        cutoffs: Where selected and traced membership are compared.
    """

    def __init__(self, opened: Opened, *, cutoffs: Sequence[int] = ()) -> None:
        self.declaration = opened.declaration
        hard = self.declaration is not None and self.declaration.mode == "hard"
        self.population: frozenset[str] | None = None
        if self.declaration is not None and hard:
            self.population = frozenset(self.declaration.population or ())
        self.unseen = set(self.population or ())
        self.duplicates: set[str] = set()
        self.unexpected: set[str] = set()
        self.observed = 0
        self.verdicts: Counter[Verdict] = Counter()
        self.judged: Counter[Verdict] = Counter()
        self.ranks: Counter[int] = Counter()
        self.malformed: list[Malformed] = []
        self._joint = {cutoff: [0, 0, 0, 0] for cutoff in cutoffs}

    def observe(self, observation: Observation, *, trace: object = ABSENT) -> Judgment:
        """Judge one observation and count it.

        Args:
            observation: What the record holds.
            trace: The traced key or keys that the same ranking is compared on; whatever the record holds there.
        """
        judgment = hard = judge(observation, self.declaration)
        if self.declaration is not None:
            if judgment.verdict is Verdict.NOT_APPLICABLE:
                hard = judge(observation, self.declaration, checks=RECORD_CHECKS)
            self.count_judged(hard.verdict, hard.rank)
            if hard.verdict in {Verdict.PASS, Verdict.FAIL} and self._joint:
                self._compare(observation, trace, self.declaration, hard.rank)
        self.verdicts[judgment.verdict] += 1
        self.place(observation.record_id)
        return judgment

    def count_judged(self, verdict: Verdict, rank: int | None) -> None:
        """Count the verdict that hard mode gives a record."""
        self.judged[verdict] += 1
        if verdict in {Verdict.PASS, Verdict.FAIL}:
            self.ranks[rank or 0] += 1

    def place(self, record_id: str) -> None:
        """Count an observed record ID against the population."""
        self.observed += 1
        if self.population is None:
            return
        if record_id in self.unseen:
            self.unseen.remove(record_id)
        elif record_id in self.population or record_id in self.unexpected:
            self.duplicates.add(record_id)
        else:
            self.unexpected.add(record_id)

    def place_all(self, record_ids: Sequence[str]) -> None:
        """Count several observed record IDs against the population."""
        if self.population is not None and not self.unseen.issuperset(record_ids):
            for record_id in record_ids:
                self.place(record_id)
            return
        left = len(self.unseen) - len(record_ids)
        self.unseen.difference_update(record_ids)
        if self.population is not None and len(self.unseen) != left:
            self.duplicates.update(name for name, count in Counter(record_ids).items() if count > 1)
        self.observed += len(record_ids)

    def add_judged(self, ranks: Sequence[int]) -> None:
        """Count records of a valid declaration that hard mode gives PASS or FAIL, without placing them.

        Args:
            ranks: One each; 0 where the rule holds on no prefix.
        """
        if self.declaration is None:
            raise ValueError("an invalid declaration judges no record")
        cutoff = self.declaration.cutoff
        passed = sum(map(cutoff.__ge__, ranks)) - ranks.count(0)
        counted = {Verdict.PASS: passed, Verdict.FAIL: len(ranks) - passed}
        self.ranks.update(ranks)
        self.judged.update(counted)
        self.verdicts.update(counted if self.population is not None else {Verdict.NOT_APPLICABLE: len(ranks)})

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
            joint={
                cutoff: Joint(both=both, selected_only=selected, traced_only=traced, neither=neither)
                for cutoff, (both, selected, traced, neither) in self._joint.items()
            },
            malformed=tuple(self.malformed),
        )

    def accounts(self) -> Accounts:
        """Return the run as it stands."""
        return Accounts(
            counts=self.counts(),
            missing=tuple(sorted(self.unseen)),
            duplicates=tuple(sorted(self.duplicates)),
            unexpected=tuple(sorted(self.unexpected)),
        )

    def _compare(self, observation: Observation, trace: object, declaration: Declaration, rank: int | None) -> None:
        given = trace if isinstance(trace, list) else [trace]
        resolver, ids = declaration.resolver, observation.returned
        keys = [key for key in given if isinstance(key, str) and resolver.resolve(key) is not None]
        if not keys or len(keys) < len(given) or not isinstance(ids, list):
            return
        traced = Membership(keys, rule=declaration.rule, resolver=resolver).rank(ids)
        for cutoff, counts in self._joint.items():
            missed = (rank is None or rank > cutoff, traced is None or traced > cutoff)
            counts[missed[0] * 2 + missed[1]] += 1
