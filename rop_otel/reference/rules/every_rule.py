"""Every handoff rule by its name, over one corpus."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import Final

from rop_otel.core.ranking import HandoffRule, Page
from rop_otel.errors import ConfigurationError
from rop_otel.reference.encoder import Encoder
from rop_otel.reference.models import ModelFiles, default_encoder
from rop_otel.reference.named_callable import NamedCallable
from rop_otel.reference.rules.bm25_rule import PROJECTIONS, Bm25Rule
from rop_otel.reference.rules.dense_rule import DenseRule
from rop_otel.reference.rules.key_rule import KeyRule
from rop_otel.reference.rules.maxsim_rule import CANDIDATES, WHOLE_POOL, MaxSimRule
from rop_otel.reference.rules.own_rule import ExternalRule
from rop_otel.reference.rules.page_pool import Pool, Progress, create_pool
from rop_otel.reference.rules.remembered_rule import RememberedRule
from rop_otel.reference.rules.reserved_rule import PREFIX, ReservedRule
from rop_otel.reference.rules.rrf_rerank_rule import RrfRerankRule
from rop_otel.reference.rules.rrf_rule import FUSED, RrfRule
from rop_otel.reference.rules.title_rule import TitleRule
from rop_otel.reference.session import Session


class Rules:
    """Makes rules over one corpus; what several of them need is made once, and only where one needs it.

    Args:
        pages: The corpus.
        encoder: A sentence encoder; None: the pinned default.
        cross_encoder: Reranks for ``rrf_rerank``; None: late interaction.
        progress: Called with the texts encoded so far and in all.
    """

    def __init__(
        self,
        pages: Sequence[Page],
        *,
        encoder: ModelFiles | None = None,
        cross_encoder: ModelFiles | None = None,
        progress: Progress | None = None,
    ) -> None:
        self._pages = pages
        self._encoder_files = encoder
        self._cross_encoder_files = cross_encoder
        self._progress = progress
        self._made: dict[str, HandoffRule] = {}
        self.models: dict[str, str] = {}

    def find(self, name: str, own: Mapping[str, NamedCallable] = MappingProxyType({})) -> HandoffRule:
        """Return a rule.

        Args:
            name: Its name; ``reserved:`` before it keeps the first slot for the selected page.
            own: Functions of one's own, by the names of the rules that call them.

        Raises:
            ConfigurationError: There is none of that name; the message lists them.
            PipelineError: A model or library that it needs is missing.
        """
        if name.startswith(PREFIX):
            return ReservedRule(self.find(name.removeprefix(PREFIX), own))
        if name not in self._made:
            self._made[name] = self._make(name, own)
        return self._made[name]

    def notes(self) -> tuple[str, ...]:
        """Return sentences on how the rules found so far are run."""
        notes = []
        if "maxsim" in self._made:
            scored = (
                f"maxsim scores the first {CANDIDATES} of bm25_body and of dense together"
                if len(self._pages) > WHOLE_POOL
                else f"maxsim scores all {len(self._pages):,} pages"
            )
            notes.append(scored)
        if "rrf" in self._made:
            notes.append(f"rrf fuses the first {FUSED} of bm25_body, dense and maxsim, k = 60")
        if "rrf_rerank" in self._made:
            by = "late interaction" if self._cross_encoder_files is None else "a cross-encoder"
            notes.append(f"rrf_rerank orders the first {FUSED} of rrf by {by}")
        return tuple(notes)

    def _make(self, name: str, own: Mapping[str, NamedCallable]) -> HandoffRule:
        if name == KeyRule.name:
            return KeyRule()
        if name in own:
            return RememberedRule(ExternalRule(own[name], {page.id for page in self._pages}), least=0)
        if name not in RULES:
            known = ", ".join(RULES)
            raise ConfigurationError(f"unknown rule {name!r}; there are {known}, {PREFIX}RULE and name=module:function")
        return RememberedRule(RULES[name](self), least=CANDIDATES if len(self._pages) > WHOLE_POOL else FUSED)

    @cached_property
    def _pool(self) -> Pool:
        encoder = Encoder(self._encoder_files or default_encoder())
        self.models["encoder"] = encoder.sha256
        return create_pool(self._pages, encoder, progress=self._progress)

    def _session(self) -> Session | None:
        if self._cross_encoder_files is None:
            return None
        session = Session(self._cross_encoder_files)
        self.models["cross_encoder"] = session.sha256
        return session

    def _arms(self, *names: str) -> list[HandoffRule]:
        return [self.find(name) for name in names]


def _bm25(name: str) -> Callable[[Rules], HandoffRule]:
    return lambda rules: Bm25Rule(name, rules._pages)


_MAKERS: dict[str, Callable[[Rules], HandoffRule]] = {
    "key": lambda rules: KeyRule(),
    "title": lambda rules: TitleRule(rules._pages),
    **{name: _bm25(name) for name in PROJECTIONS},
    "dense": lambda rules: DenseRule(rules._pool),
    "maxsim": lambda rules: MaxSimRule(rules._pool, rules._arms("bm25_body", "dense")),
    "rrf": lambda rules: RrfRule(rules._arms("bm25_body", "dense", "maxsim")),
    "rrf_rerank": lambda rules: RrfRerankRule(rules._pool, rules.find("rrf"), rules._session()),
}
RULES: Final = MappingProxyType(_MAKERS)
