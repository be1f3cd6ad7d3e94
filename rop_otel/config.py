"""One frozen configuration: each setting comes from its argument, else from the environment, else from a default."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Final, Literal, TypeVar, cast

from rop_otel import semconv
from rop_otel.core.idshape import NAME, IdShape
from rop_otel.core.profile.hashing import hash_resolver
from rop_otel.core.profile.resolver import Resolver, parse_resolver_file
from rop_otel.errors import ConfigurationError, InputError, ResolverError
from rop_otel.safety.files import read_whole

Assess = Literal["local", "monitor"]
"""Where a handoff is assessed: in the process that opened it, or by the monitor."""

_T = TypeVar("_T")
_TRUE: Final = frozenset({"true", "1", "yes", "on"})
_FALSE: Final = frozenset({"false", "0", "no", "off"})
_HOST: Final = re.compile(r"\.?[\w-]+(\.[\w-]+)*|[0-9a-f:]*:[0-9a-f:.]*")
_ENV_SERVICE_NAME: Final = "OTEL_SERVICE_NAME"
_ENV_CAPTURE_TEXT: Final = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
_TEXT_ON_SPANS: Final = _TRUE | {"span_only", "span_and_event"}
_VARIABLES: Final[tuple[str, ...]] = tuple(value for name, value in vars(semconv).items() if name.startswith("ENV_"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """Every setting, decided once.

    Args:
        enabled: False switches everything to no-op twins.
        service_name: Name of the service in its telemetry; None leaves that to OpenTelemetry.
        metrics_host: Address on which ``/metrics`` listens.
        metrics_port: Port of ``/metrics``, 0 for any free one; None serves none.
        resolver: The resolver in force, hashed already where there is a key; None: an ID stands for itself.
        assess: Where handoffs are assessed.
        strict: True raises on misuse, for tests.
        hash_key: Key with which IDs are hashed before they are recorded; None records them as they are.
        max_ids: IDs recorded of each list; what is cut is counted.
        max_id_length, max_id_words: Characters and words of a string that still counts as an ID; a longer one is text.
        id_line_breaks: Whether a string with a line break may be an ID.
        capture_text: Whether messages and stack traces of exceptions are recorded, which may hold text; never with a
            key.
        max_open: Handoffs open at one time; further ones are not monitored.
        ttl_seconds: After this time an open handoff counts as abandoned.
        max_names, max_stages: Handoff names and stage kinds that metrics tell apart.
        citation_pattern: How a citation is written; None derives that from the labels shown.
        baggage_hosts: Hosts to which a selection may be sent as baggage: a name, or ``.name`` for all below it.
        openinference: Whether spans carry OpenInference's attributes too, for viewers that know those.
        id_keys: In spans of other conventions: keys of a document's metadata, the first present of which is its ID.
        foreign_stages: Patterns of the names of such spans, each with the kind of the stage that such a span is.
        foreign_handoffs: Patterns of the names of such spans that are handoffs; empty: the topmost one.
        foreign_selected: Attribute of the span that is a handoff that holds what was selected.
        foreign_labels: Attribute of such a stage's span that holds the labels of what it returned.
    """

    enabled: bool = True
    service_name: str | None = None
    metrics_host: str = "127.0.0.1"
    metrics_port: int | None = None
    resolver: Resolver | None = None
    assess: Assess = "local"
    strict: bool = False
    hash_key: bytes | None = None
    max_ids: int = 1000
    max_id_length: int = NAME.length
    max_id_words: int = NAME.words
    id_line_breaks: bool = False
    capture_text: bool = False
    max_open: int = 10_000
    ttl_seconds: float = 300.0
    max_names: int = 8
    max_stages: int = 32
    citation_pattern: re.Pattern[str] | None = None
    baggage_hosts: tuple[str, ...] = ()
    openinference: bool = False
    id_keys: tuple[str, ...] = ()
    foreign_stages: tuple[tuple[str, str], ...] = ()
    foreign_handoffs: tuple[str, ...] = ()
    foreign_selected: str | None = None
    foreign_labels: str | None = None

    @classmethod
    def resolve(
        cls,
        *,
        enabled: bool | None = None,
        service_name: str | None = None,
        metrics_host: str | None = None,
        metrics_port: int | None = None,
        resolver: Resolver | str | os.PathLike[str] | None = None,
        assess: Assess | None = None,
        strict: bool | None = None,
        hash_key: bytes | str | None = None,
        max_ids: int | None = None,
        max_id_length: int | None = None,
        max_id_words: int | None = None,
        id_line_breaks: bool | None = None,
        capture_text: bool | None = None,
        max_open: int | None = None,
        ttl_seconds: float | None = None,
        max_names: int | None = None,
        max_stages: int | None = None,
        citation_pattern: re.Pattern[str] | str | None = None,
        baggage_hosts: str | Sequence[str] | None = None,
        openinference: bool | None = None,
        id_keys: str | Sequence[str] | None = None,
        foreign_stages: str | Mapping[str, str] | None = None,
        foreign_handoffs: str | Sequence[str] | None = None,
        foreign_selected: str | None = None,
        foreign_labels: str | None = None,
        environ: Mapping[str, str] | None = None,
    ) -> Config:
        """Decide every setting.

        The arguments are those of the class, where None means not given; ``resolver`` may be the path of a resolver
        file, and ``environ`` is the environment to read, None for the process's.

        Raises:
            ConfigurationError: A value cannot be used; the message names it and where it came from.
        """
        source, preset = Source(os.environ if environ is None else environ), cls()
        disabled = None if enabled is None else not _flag(enabled, "the argument enabled")
        key = source.pick("hash_key", hash_key, semconv.ENV_HASH_KEY, _key, None)
        found = source.pick("resolver", resolver, semconv.ENV_RESOLVER, _resolver, None)
        return cls(
            enabled=not source.pick("enabled", disabled, semconv.ENV_DISABLED, _flag, False),
            service_name=source.pick("service_name", service_name, _ENV_SERVICE_NAME, as_text, None),
            metrics_host=source.pick(
                "metrics_host", metrics_host, semconv.ENV_METRICS_HOST, as_text, preset.metrics_host
            ),
            metrics_port=source.pick("metrics_port", metrics_port, semconv.ENV_METRICS_PORT, _port, None),
            resolver=hash_resolver(key, found) if key and found else found,
            assess=source.pick("assess", assess, semconv.ENV_ASSESS, _assess, preset.assess),
            strict=source.pick("strict", strict, semconv.ENV_STRICT, _flag, preset.strict),
            hash_key=key,
            max_ids=source.pick("max_ids", max_ids, semconv.ENV_MAX_IDS, as_positive, preset.max_ids),
            max_id_length=source.pick(
                "max_id_length", max_id_length, semconv.ENV_MAX_ID_LENGTH, as_positive, preset.max_id_length
            ),
            max_id_words=source.pick(
                "max_id_words", max_id_words, semconv.ENV_MAX_ID_WORDS, as_positive, preset.max_id_words
            ),
            id_line_breaks=source.pick("id_line_breaks", id_line_breaks, semconv.ENV_ID_LINE_BREAKS, _flag, False),
            capture_text=source.pick("capture_text", capture_text, _ENV_CAPTURE_TEXT, _captures, False),
            max_open=source.pick("max_open", max_open, semconv.ENV_MAX_OPEN, as_positive, preset.max_open),
            ttl_seconds=source.pick("ttl_seconds", ttl_seconds, semconv.ENV_TTL, _seconds, preset.ttl_seconds),
            max_names=source.pick("max_names", max_names, None, as_positive, preset.max_names),
            max_stages=source.pick("max_stages", max_stages, None, as_positive, preset.max_stages),
            citation_pattern=source.pick("citation_pattern", citation_pattern, None, _pattern, None),
            baggage_hosts=source.pick("baggage_hosts", baggage_hosts, semconv.ENV_BAGGAGE_HOSTS, _hosts, ()),
            openinference=source.pick("openinference", openinference, semconv.ENV_OPENINFERENCE, _flag, False),
            id_keys=source.pick("id_keys", id_keys, semconv.ENV_ID_KEYS, as_texts, ()),
            foreign_stages=source.pick("foreign_stages", foreign_stages, semconv.ENV_FOREIGN_STAGES, _patterns, ()),
            foreign_handoffs=source.pick(
                "foreign_handoffs", foreign_handoffs, semconv.ENV_FOREIGN_HANDOFFS, as_texts, ()
            ),
            foreign_selected=source.pick(
                "foreign_selected", foreign_selected, semconv.ENV_FOREIGN_SELECTED, as_text, None
            ),
            foreign_labels=source.pick("foreign_labels", foreign_labels, semconv.ENV_FOREIGN_LABELS, as_text, None),
        )

    @property
    def records_text(self) -> bool:
        """Whether text is asked for and may be recorded: where IDs are hashed it may not, since it names documents."""
        return self.capture_text and self.hash_key is None

    @property
    def id_shape(self) -> IdShape:
        """What a string has to be like to count as an ID."""
        return IdShape(length=self.max_id_length, words=self.max_id_words, line_breaks=self.id_line_breaks)


@dataclass(frozen=True, slots=True)
class Source:
    """Where settings come from when they are not given.

    Args:
        environ: The environment.
    """

    environ: Mapping[str, str]

    def pick(
        self, name: str, argument: object, variable: str | None, read: Callable[[object, str], _T], default: _T | None
    ) -> _T:
        """Return the argument, else the variable's value, else the default; an empty variable counts as absent."""
        if argument is not None:
            return read(argument, f"the argument {name}")
        value = self.environ.get(variable, "") if variable else ""
        if value.strip():
            return read(value.strip(), f"the environment variable {variable}")
        return cast(_T, default)


def misspelt(environ: Mapping[str, str]) -> list[str]:
    """Return a sentence for each variable that is no setting and looks like one; others are left to whom they serve."""
    prefix = semconv.ENVIRONMENT
    settings = [variable.removeprefix(prefix) for variable in _VARIABLES]
    unknown = [name for name in sorted(environ) if name.startswith(prefix) and name not in _VARIABLES]
    return [
        f"the environment variable {name} is no setting; did you mean {prefix}{near}?"
        for name in unknown
        for near in get_close_matches(name.removeprefix(prefix), settings, n=1)
    ]


def _flag(value: object, place: str) -> bool:
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.lower() in _TRUE | _FALSE:
        return value.lower() in _TRUE
    raise ConfigurationError(f"{place} is {value!r}; it must be true or false")


def _captures(value: object, place: str) -> bool:
    # The variable is not ours: what others make of further values is no error here, and asks for no text on spans.
    return value.lower() in _TEXT_ON_SPANS if isinstance(value, str) else _flag(value, place)


def as_text(value: object, place: str) -> str:
    """Return a non-empty string, else raise :class:`ConfigurationError`, which names the place."""
    if isinstance(value, str) and value:
        return value
    raise ConfigurationError(f"{place} is {value!r}; it must be a non-empty string")


def as_texts(value: object, place: str) -> tuple[str, ...]:
    """Return non-empty strings, of a sequence or of one text with commas, else raise :class:`ConfigurationError`."""
    texts = [each.strip() for each in value.split(",")] if isinstance(value, str) else value
    if isinstance(texts, list | tuple) and all(isinstance(each, str) and each for each in texts):
        return tuple(texts)
    raise ConfigurationError(f"{place} is {value!r}; it must be non-empty strings, or one with commas between them")


def as_kinds(value: object, place: str) -> tuple[tuple[str, str], ...]:
    """Return names with kinds of stages, of a mapping or of one text: ``name=kind, name=kind``; no kind is empty.

    Raises:
        ConfigurationError: They cannot be used; the message names the place.
    """
    pairs: list[tuple[object, object]] = []
    if isinstance(value, str):
        pairs = [(name.strip(), kind.strip()) for name, _, kind in (each.rpartition("=") for each in value.split(","))]
    elif isinstance(value, Mapping):
        pairs = [(name, "" if kind is None else kind) for name, kind in value.items()]
    kinds = tuple((name, kind) for name, kind in pairs if isinstance(name, str) and name and isinstance(kind, str))
    if isinstance(value, str | Mapping) and len(kinds) == len(pairs):
        return kinds
    raise ConfigurationError(f"{place} is {value!r}; it must be name=kind, several with commas, or such a mapping")


def _patterns(value: object, place: str) -> tuple[tuple[str, str], ...]:
    kinds = as_kinds(value, place)
    if all(kind for _, kind in kinds):
        return kinds
    raise ConfigurationError(f"{place} is {value!r}; each pattern must have a kind")


def _hosts(value: object, place: str) -> tuple[str, ...]:
    hosts = tuple(each.lower() for each in as_texts(value, place))
    for host in hosts:
        if not _HOST.fullmatch(host):
            raise ConfigurationError(
                f"{place} has {host!r}; it must be a host, or .host for all below it, without a port"
            )
    return hosts


def _integer(value: object, place: str, low: int, high: int) -> int:
    number = value
    if isinstance(value, str) and re.fullmatch(r"[+-]?\d+", value):
        number = int(value)
    if not isinstance(number, int) or isinstance(number, bool) or not low <= number <= high:
        limits = f"of at least {low}" if high == sys.maxsize else f"from {low} to {high}"
        raise ConfigurationError(f"{place} is {value!r}; it must be a whole number {limits}")
    return number


def _port(value: object, place: str) -> int:
    return _integer(value, place, 0, 65_535)


def as_positive(value: object, place: str) -> int:
    """Return a whole number of at least 1, else raise :class:`ConfigurationError`, which names the place."""
    return _integer(value, place, 1, sys.maxsize)


def _seconds(value: object, place: str) -> float:
    if isinstance(value, (int, float, str)) and not isinstance(value, bool):
        try:
            number = float(value)
        except ValueError:
            number = 0.0
        if 0.0 < number < float("inf"):
            return number
    raise ConfigurationError(f"{place} is {value!r}; it must be a number of seconds above 0")


def _assess(value: object, place: str) -> Assess:
    if value == "local":
        return "local"
    if value == "monitor":
        return "monitor"
    raise ConfigurationError(f"{place} is {value!r}; it must be 'local' or 'monitor'")


def _key(value: object, place: str) -> bytes:
    key = value.encode() if isinstance(value, str) else value
    if isinstance(key, bytes) and key:
        return key
    raise ConfigurationError(f"{place} must be a non-empty string or bytes, not {type(value).__name__}")


def _pattern(value: object, place: str) -> re.Pattern[str]:
    if isinstance(value, re.Pattern) and isinstance(value.pattern, str):
        return cast("re.Pattern[str]", value)
    if isinstance(value, str) and value:
        try:
            return re.compile(value)
        except re.error as error:
            raise ConfigurationError(f"{place} is {value!r}; it is no regular expression: {error}") from None
    raise ConfigurationError(f"{place} is {value!r}; it must be a regular expression of text")


def _resolver(value: object, place: str) -> Resolver:
    if isinstance(value, Resolver):
        return value
    if not isinstance(value, (str, os.PathLike)):
        raise ConfigurationError(f"{place} is {value!r}; it must be a resolver or the path of a resolver file")
    path = Path(value)
    try:
        return parse_resolver_file(str(path), read_whole(str(path)))
    except InputError as error:
        why = str(error).removeprefix(f"{path}: ")
        raise ConfigurationError(f"{place} is {str(path)!r}; the file {why}") from None
    except ResolverError as error:
        raise ConfigurationError(f"{place} is {str(path)!r}; it is no resolver: {error}") from None
