"""What the stages work with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rop_otel.reference.encoder import Encoder
from rop_otel.reference.index import Index
from rop_otel.reference.session import Session
from rop_otel.reference.stage_widths import Settings
from rop_otel.reference.words import Stemmer

CountTokens = Callable[[str], int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tools:
    """What stages work with.

    Args:
        index: The indexed corpus.
        encoder: Makes vectors and counts tokens.
        stemmer: Makes word forms comparable.
        settings: Sizes and limits.
        cross_encoder: The reranker's model; None: late interaction.
    """

    index: Index
    encoder: Encoder
    stemmer: Stemmer
    settings: Settings
    cross_encoder: Session | None = None

    @property
    def count(self) -> CountTokens:
        """Counts tokens as the encoder does."""
        return self.encoder.count_tokens
