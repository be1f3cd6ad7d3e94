"""One frozen configuration: each setting comes from its argument, else from the environment, else from a default."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final, Literal, TypedDict, TypeVar, Unpack, cast

from rop_otel import semconv
from rop_otel.core.idshape import NAME, IdShape
from rop_otel.core.profile.hashing import hash_resolver
from rop_otel.core.profile.resolver import Resolver, parse_resolver_file
from rop_otel.errors import ConfigurationError, InputError, ResolverError, refuse_unknown
from rop_otel.safety.files import read_whole

Assess = Literal["local", "monitor"]
"""Where a handoff is assessed: in the process that opened it, or by the monitor."""

_T = TypeVar("_T")
_READ: Final = "read"
_VARIABLE: Final = "variable"
_TRUE: Final = frozenset({"true", "1", "yes", "on"})
_FALSE: Final = frozenset({"false", "0", "no", "off"})
_HOST: Final = re.compile(r"\.?[\w-]+(\.[\w-]+)*|[0-9a-f:]*:[0-9a-f:.]*")
_ENV_SERVICE_NAME: Final = "OTEL_SERVICE_NAME"
_ENV_CAPTURE_TEXT: Final = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
_TEXT_ON_SPANS: Final = _TRUE | {"span_only", "span_and_event"}
_VARIABLES: Final[tuple[str, ...]] = tuple(value for name, value in vars(semconv).items() if name.startswith("ENV_"))


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
    """Return a sentence for each variable that looks like a setting and is none; variables of others are ignored."""
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


def _on(value: object, place: str) -> bool:
    """Return whether the monitor is on. A true argument switches it on; a true variable switches it off."""
    return _flag(value, place) if isinstance(value, bool) else not _flag(value, place)


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


def as_pattern(value: object, place: str) -> re.Pattern[str]:
    """Return a compiled regular expression, else raise :class:`ConfigurationError`, which names the place."""
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


class Given(TypedDict, total=False):
    """The settings as arguments. None: the setting comes from the environment, else from its default.

    Args:
        enabled: False switches monitoring off (``ROP_OTEL_DISABLED``).
        service_name: Name of the service, if ``configure`` makes a tracer provider (``OTEL_SERVICE_NAME``).
        metrics_host: Address on which ``/metrics`` listens; loopback by default.
        metrics_port: Port of ``/metrics``, 0 for any free one; without a port it is not served.
        resolver: The resolver in force, or its file.
        assess: ``local``: this process assesses. ``monitor``: a service that receives the spans assesses.
        strict: True raises on misuse, for tests.
        hash_key: Key with which IDs are hashed before they are recorded.
        max_ids: IDs recorded of each list.
        max_id_length: Characters of a string that still counts as an ID; a longer one is text, and never recorded.
        max_id_words: Words of such a string.
        id_line_breaks: Whether it may have line breaks.
        capture_text: Whether messages and stack traces of exceptions, which may hold text, are recorded and logged.
        max_open: Handoffs open at one time.
        ttl_seconds: After this time an open handoff counts as abandoned.
        max_names, max_stages: Handoff names and stage kinds that metrics distinguish.
        citation_pattern: How a citation is written in an answer.
        baggage_hosts: Hosts to which a selection may be sent as baggage.
        openinference: True writes OpenInference's attributes too, for viewers that know those.
        id_keys: For spans of other conventions: keys of a document's metadata; the first that is present holds its ID.
        foreign_stages: Patterns of the names of such spans, each with the kind of the stage that such a span is.
        foreign_handoffs: Patterns of the names of such spans that are handoffs; by default the topmost one is.
        foreign_selected: Attribute of such a handoff's span that holds what was selected.
        foreign_labels: Attribute of such a stage's span that holds the labels of what it returned.
    """

    enabled: bool | None
    service_name: str | None
    metrics_host: str | None
    metrics_port: int | None
    resolver: Resolver | str | os.PathLike[str] | None
    assess: Assess | None
    strict: bool | None
    hash_key: bytes | str | None
    max_ids: int | None
    max_id_length: int | None
    max_id_words: int | None
    id_line_breaks: bool | None
    capture_text: bool | None
    max_open: int | None
    ttl_seconds: float | None
    max_names: int | None
    max_stages: int | None
    citation_pattern: re.Pattern[str] | str | None
    baggage_hosts: str | Sequence[str] | None
    openinference: bool | None
    id_keys: str | Sequence[str] | None
    foreign_stages: str | Mapping[str, str] | None
    foreign_handoffs: str | Sequence[str] | None
    foreign_selected: str | None
    foreign_labels: str | None


def setting(default: _T, read: Callable[[object, str], _T], variable: str | None = None) -> _T:
    """Return the field of a dataclass that is a setting.

    Args:
        default: Its value if neither an argument nor the environment gives one.
        read: Reads an argument or a variable; it also gets the place of the value, for the message.
        variable: The environment variable; None: there is none.
    """
    return field(default=default, metadata={_READ: read, _VARIABLE: variable})


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """Every setting, decided once.

    Args:
        enabled: False switches monitoring off.
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
        max_names, max_stages: Handoff names and stage kinds that metrics distinguish.
        citation_pattern: How a citation is written; None derives that from the labels shown.
        baggage_hosts: Hosts to which a selection may be sent as baggage: a name, or ``.name`` for all below it.
        openinference: Whether spans carry OpenInference's attributes too, for viewers that know those.
        id_keys: For spans of other conventions: keys of a document's metadata; the first that is present holds its ID.
        foreign_stages: Patterns of the names of such spans, each with the kind of the stage that such a span is.
        foreign_handoffs: Patterns of the names of such spans that are handoffs; empty: the topmost one.
        foreign_selected: Attribute of such a handoff's span that holds what was selected.
        foreign_labels: Attribute of such a stage's span that holds the labels of what it returned.
    """

    enabled: bool = setting(True, _on, semconv.ENV_DISABLED)
    service_name: str | None = setting(None, as_text, _ENV_SERVICE_NAME)
    metrics_host: str = setting("127.0.0.1", as_text, semconv.ENV_METRICS_HOST)
    metrics_port: int | None = setting(None, _port, semconv.ENV_METRICS_PORT)
    resolver: Resolver | None = setting(None, _resolver, semconv.ENV_RESOLVER)
    assess: Assess = setting("local", _assess, semconv.ENV_ASSESS)
    strict: bool = setting(False, _flag, semconv.ENV_STRICT)
    hash_key: bytes | None = setting(None, _key, semconv.ENV_HASH_KEY)
    max_ids: int = setting(1000, as_positive, semconv.ENV_MAX_IDS)
    max_id_length: int = setting(NAME.length, as_positive, semconv.ENV_MAX_ID_LENGTH)
    max_id_words: int = setting(NAME.words, as_positive, semconv.ENV_MAX_ID_WORDS)
    id_line_breaks: bool = setting(False, _flag, semconv.ENV_ID_LINE_BREAKS)
    capture_text: bool = setting(False, _captures, _ENV_CAPTURE_TEXT)
    max_open: int = setting(10_000, as_positive, semconv.ENV_MAX_OPEN)
    ttl_seconds: float = setting(300.0, _seconds, semconv.ENV_TTL)
    max_names: int = setting(8, as_positive)
    max_stages: int = setting(32, as_positive)
    citation_pattern: re.Pattern[str] | None = setting(None, as_pattern)
    baggage_hosts: tuple[str, ...] = setting((), _hosts, semconv.ENV_BAGGAGE_HOSTS)
    openinference: bool = setting(False, _flag, semconv.ENV_OPENINFERENCE)
    id_keys: tuple[str, ...] = setting((), as_texts, semconv.ENV_ID_KEYS)
    foreign_stages: tuple[tuple[str, str], ...] = setting((), _patterns, semconv.ENV_FOREIGN_STAGES)
    foreign_handoffs: tuple[str, ...] = setting((), as_texts, semconv.ENV_FOREIGN_HANDOFFS)
    foreign_selected: str | None = setting(None, as_text, semconv.ENV_FOREIGN_SELECTED)
    foreign_labels: str | None = setting(None, as_text, semconv.ENV_FOREIGN_LABELS)

    @classmethod
    def resolve(cls, *, environ: Mapping[str, str] | None = None, **given: Unpack[Given]) -> Config:
        """Decide every setting.

        Args:
            environ: The environment to read; None: the process's.
            given: See :class:`Given`.

        Raises:
            ConfigurationError: A value cannot be used; the message names it and where it came from.
        """
        refuse_unknown("the configuration", given, Given)
        source = Source(os.environ if environ is None else environ)
        if (enabled := given.get("enabled")) is not None:
            given["enabled"] = _flag(enabled, "the argument enabled")  # the variable says the contrary
        decided: dict[str, Any] = {}
        for each in fields(cls):
            read, variable = each.metadata[_READ], each.metadata[_VARIABLE]
            decided[each.name] = source.pick(each.name, given.get(each.name), variable, read, each.default)
        if decided["hash_key"] and decided["resolver"]:
            decided["resolver"] = hash_resolver(decided["hash_key"], decided["resolver"])
        return cls(**decided)

    @property
    def records_text(self) -> bool:
        """Whether text is asked for and may be recorded: where IDs are hashed it may not, since it names documents."""
        return self.capture_text and self.hash_key is None

    @property
    def id_shape(self) -> IdShape:
        """What a string has to be like to count as an ID."""
        return IdShape(length=self.max_id_length, words=self.max_id_words, line_breaks=self.id_line_breaks)
