"""The user's settings for foreign spans, beyond what their conventions say."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fnmatch import translate
from typing import Final

from rop_otel import semconv
from rop_otel.config import Config
from rop_otel.core.idshape import IdShape

_VARIABLES: Final = (
    semconv.ENV_FOREIGN_STAGES,
    semconv.ENV_FOREIGN_HANDOFFS,
    semconv.ENV_FOREIGN_SELECTED,
    semconv.ENV_FOREIGN_LABELS,
    semconv.ENV_ID_KEYS,
    semconv.ENV_HASH_KEY,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """How spans of other conventions are read.

    Args:
        stages: Patterns of span names, each with the kind of the stage that such a span is; the first that matches.
        handoffs: Patterns of the names of spans that are handoffs; empty: the topmost one.
        id_keys: Keys of a document's metadata; the first that is present holds its ID and counts before its own.
        selected: Attribute of a handoff span that holds what was selected.
        labels: Attribute of a stage span that holds the citation labels of what it returned.
        hash_key: Key with which IDs are hashed, as those of our own spans are.
        shape: What an ID may be, so that no text gets into what we emit; None: spans are read as they were recorded.
    """

    stages: tuple[tuple[re.Pattern[str], str], ...] = ()
    handoffs: tuple[re.Pattern[str], ...] = ()
    id_keys: tuple[str, ...] = ()
    selected: str | None = None
    labels: str | None = None
    hash_key: bytes | None = field(default=None, repr=False)
    shape: IdShape | None = None

    @classmethod
    def of(cls, config: Config) -> Rules:
        """Return the rules of a configuration; its patterns are written like those for file names in a shell."""
        return cls(
            stages=tuple((_pattern(pattern), kind) for pattern, kind in config.foreign_stages),
            handoffs=tuple(map(_pattern, config.foreign_handoffs)),
            id_keys=config.id_keys,
            selected=config.foreign_selected,
            labels=config.foreign_labels,
            hash_key=config.hash_key,
            shape=config.id_shape,
        )

    @classmethod
    def of_environment(cls, environ: Mapping[str, str] | None = None) -> Rules:
        """Return the environment's rules for recorded spans; its other settings do not count.

        Args:
            environ: The environment to read; None: the process's.

        Raises:
            ConfigurationError: One of them cannot be used.
        """
        given = os.environ if environ is None else environ
        config = Config.resolve(environ={name: given[name] for name in _VARIABLES if name in given})
        return replace(cls.of(config), shape=None)

    def kind_of(self, name: str) -> str | None:
        """Return the kind that the user gives to a span of this name, None if none is given."""
        return next((kind for pattern, kind in self.stages if pattern.fullmatch(name)), None)

    def may_be_handoff(self, name: str) -> bool:
        """Return whether a span of this name may be a handoff."""
        return not self.handoffs or any(pattern.fullmatch(name) for pattern in self.handoffs)


def _pattern(pattern: str) -> re.Pattern[str]:
    return re.compile(translate(pattern))
