"""What a user asks of an instrumentation package."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar, cast

from rop_otel import semconv
from rop_otel.config import Source, as_kinds, as_pattern, as_positive, as_text, as_texts
from rop_otel.errors import ConfigurationError
from rop_otel.instrumenting.functions import Judge, Selector, as_function
from rop_otel.tracing.results.metadata_id import ByKeys

_T = TypeVar("_T")
_logger = logging.getLogger("rop_otel")
_PROVIDERS: Final = frozenset({"tracer_provider", "meter_provider", "logger_provider"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What a user asks of an instrumentation package, decided once.

    Args:
        handoff: Name of the handoffs; None: the framework's own name of the topmost call.
        cutoff: How many of the shown documents count; None: all.
        selected_by: Returns what was selected.
        selected_key: Key of the topmost call's metadata, else of its inputs, that holds what was selected.
        judged_by: Finds out which objects are judged relevant; called as ``selected_by``.
        record_key: Key of the same, that holds the ID of the record that is asked about.
        scope_key: Key of a document's metadata that holds its scope; the same key of the topmost call's metadata, else
            of its inputs, holds that of the handoff.
        expected: Stages that the pipeline is declared to have, in order: names, else kinds.
        label_pattern: How a prompt labels its passages: its first group, else all of it, is the label; None: the usual
            forms.
        shows: ``text``: a prompt shows the documents' own text, and is searched for it. ``rewritten``: it shows them
            in another form (summaries, translations, metadata), so that what is packed is taken for shown.
        id_keys: Keys of a document's metadata, the first present of which is its ID; without one it is its own ID.
        stages: Kinds of stages by the name of a component's class or of a function; None: it is no stage.
    """

    handoff: str | None = None
    cutoff: int | None = None
    selected_by: Selector | None = None
    selected_key: str | None = None
    judged_by: Judge | None = None
    record_key: str | None = None
    scope_key: str | None = None
    expected: tuple[str, ...] = ()
    label_pattern: re.Pattern[str] | None = None
    shows: str = "text"
    id_keys: tuple[str, ...] = ()
    stages: Mapping[str, str | None] = field(default_factory=dict)

    @classmethod
    def resolve(
        cls,
        *,
        handoff: str | None = None,
        cutoff: int | None = None,
        selected_by: Selector | str | None = None,
        selected_key: str | None = None,
        judged_by: Judge | str | None = None,
        record_key: str | None = None,
        scope_key: str | None = None,
        expected: str | tuple[str, ...] | list[str] | None = None,
        label_pattern: re.Pattern[str] | str | None = None,
        shows: str | None = None,
        id_keys: str | tuple[str, ...] | list[str] | None = None,
        stages: str | Mapping[str, str | None] | None = None,
        environ: Mapping[str, str] | None = None,
        **others: object,
    ) -> Settings:
        """Decide every setting: from its argument, else from the environment, else from its default.

        The arguments are those of the class, where ``selected_by`` and ``judged_by`` may be ``module:function``, which
        is imported at its first use, ``id_keys`` and ``expected`` a text with commas, and ``stages`` one of
        ``name=kind``, where an empty kind is None. ``environ`` is the environment to read, None for the
        process's; ``others`` may hold providers, which every instrumentor of OpenTelemetry is given and this leaves
        alone.

        A variable that cannot be used is logged and counts as absent: an instrumentor that raises while a program
        starts would keep OpenTelemetry from loading those after it.

        Raises:
            ConfigurationError: An argument cannot be used; the message names it and its value.
        """
        if unknown := sorted(set(others) - _PROVIDERS):
            known = ", ".join(cls.__dataclass_fields__)
            raise ConfigurationError(f"the argument {unknown[0]} is no setting; those are {known}")
        source = _Source(os.environ if environ is None else environ)
        return cls(
            handoff=source.pick("handoff", handoff, semconv.ENV_HANDOFF_NAME, as_text, None),
            cutoff=source.pick("cutoff", cutoff, semconv.ENV_CUTOFF, as_positive, None),
            selected_by=source.pick("selected_by", selected_by, semconv.ENV_SELECTED_BY, as_function, None),
            selected_key=source.pick("selected_key", selected_key, semconv.ENV_SELECTED_KEY, as_text, None),
            judged_by=source.pick("judged_by", judged_by, semconv.ENV_JUDGED_BY, as_function, None),
            record_key=source.pick("record_key", record_key, semconv.ENV_RECORD_KEY, as_text, None),
            scope_key=source.pick("scope_key", scope_key, semconv.ENV_SCOPE_KEY, as_text, None),
            expected=source.pick("expected", expected, semconv.ENV_EXPECTED, as_texts, ()),
            label_pattern=source.pick("label_pattern", label_pattern, semconv.ENV_LABEL_PATTERN, as_pattern, None),
            shows=source.pick("shows", shows, semconv.ENV_SHOWS, _shows, "text"),
            id_keys=source.pick("id_keys", id_keys, semconv.ENV_ID_KEYS, as_texts, ()),
            stages=source.pick("stages", stages, semconv.ENV_STAGES, _stages, {}),
        )

    @property
    def id(self) -> Callable[[Any], str | None] | None:
        """What to give as ``id=`` to :func:`rop_otel.using_stage`; None without keys: the usual places."""
        return ByKeys(self.id_keys) if self.id_keys else None

    @property
    def scope(self) -> Callable[[Any], str | None] | None:
        """What to give as ``scope=`` to :func:`rop_otel.using_stage`; None without a key: no scope is read."""
        return ByKeys((self.scope_key,), own=False) if self.scope_key else None

    def key_of(self, component: type, *names: str) -> str | None:
        """Return the key of ``stages`` that says what a component is; None where none does.

        Args:
            component: Its class; of those that it inherits from, the nearest counts if it is not named itself.
            names: Other names of it, which come first.
        """
        known = (*names, *(each.__name__ for each in component.__mro__))
        return next((name for name in known if name in self.stages), None)


class _Source(Source):
    """A source whose variables count as absent where they cannot be used."""

    __slots__ = ()

    def pick(
        self, name: str, argument: object, variable: str | None, read: Callable[[object, str], _T], default: _T | None
    ) -> _T:
        """Return the argument, else the variable's value where it can be used, else the default."""
        try:
            return Source.pick(self, name, argument, variable, read, default)
        except ConfigurationError as error:
            if argument is not None:
                raise
            _logger.warning("%s; it counts as absent", error)
            return cast(_T, default)


def _shows(value: object, place: str) -> str:
    if value in ("text", "rewritten"):
        return str(value)
    raise ConfigurationError(f"{place} is {value!r}; it must be text or rewritten")


def _stages(value: object, place: str) -> dict[str, str | None]:
    return {name: kind or None for name, kind in as_kinds(value, place)}
