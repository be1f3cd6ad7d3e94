from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from rop_otel import semconv
from rop_otel.config import Config, misspelt
from rop_otel.core.profile import Resolver
from rop_otel.core.profile.hashing import hash_id
from rop_otel.errors import ConfigurationError

DOCUMENT = {"resolver_version": "1", "objects": {"doc": {"members": ["doc#0"]}}}
CAPTURE = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
LINES = '{"resolver_version":"1"}\n{"object_id":"doc","members":["doc#0"]}\n'


def test_nothing_given_is_the_defaults() -> None:
    """Without arguments and environment every setting has its default."""
    assert Config.resolve(environ={}) == Config()


@pytest.mark.parametrize(
    ("name", "variable", "text", "value", "argument"),
    [
        ("service_name", "OTEL_SERVICE_NAME", "rag", "rag", "other"),
        ("metrics_host", semconv.ENV_METRICS_HOST, "0.0.0.0", "0.0.0.0", "::1"),
        ("metrics_port", semconv.ENV_METRICS_PORT, "9464", 9464, 0),
        ("assess", semconv.ENV_ASSESS, "monitor", "monitor", "local"),
        ("strict", semconv.ENV_STRICT, "TRUE", True, False),
        ("hash_key", semconv.ENV_HASH_KEY, "secret", b"secret", b"other"),
        ("max_ids", semconv.ENV_MAX_IDS, " 50 ", 50, 7),
        ("max_id_length", semconv.ENV_MAX_ID_LENGTH, "300", 300, 7),
        ("max_id_words", semconv.ENV_MAX_ID_WORDS, "20", 20, 7),
        ("id_line_breaks", semconv.ENV_ID_LINE_BREAKS, "yes", True, False),
        ("capture_text", CAPTURE, "true", True, False),
        ("max_open", semconv.ENV_MAX_OPEN, "50", 50, 7),
        ("ttl_seconds", semconv.ENV_TTL, "1.5", 1.5, 60.0),
        ("baggage_hosts", semconv.ENV_BAGGAGE_HOSTS, "Search, .svc.Example", ("search", ".svc.example"), ("::1",)),
    ],
)
def test_argument_goes_before_environment_before_default(
    name: str, variable: str, text: str, value: object, argument: Any
) -> None:
    """A setting comes from its argument, else its variable, else its default; an empty variable is absent."""
    assert getattr(Config.resolve(environ={variable: text}), name) == value
    given: dict[str, Any] = {name: argument}
    assert getattr(Config.resolve(environ={variable: text}, **given), name) == argument
    assert getattr(Config.resolve(environ={variable: "  "}), name) == getattr(Config(), name)


@pytest.mark.parametrize(
    ("text", "argument", "enabled"),
    [("true", None, False), ("0", None, True), ("", None, True), ("true", True, True), ("false", False, False)],
)
def test_switching_off(text: str, argument: bool | None, enabled: bool) -> None:
    """The variable says disabled, the argument says enabled, and the argument wins."""
    assert Config.resolve(enabled=argument, environ={semconv.ENV_DISABLED: text}).enabled is enabled


@pytest.mark.parametrize(
    ("arguments", "environ", "message"),
    [
        ({"enabled": "perhaps"}, {}, "the argument enabled is 'perhaps'; it must be true or false"),
        ({}, {semconv.ENV_DISABLED: "perhaps"}, f"the environment variable {semconv.ENV_DISABLED} is 'perhaps'"),
        ({"metrics_port": 70_000}, {}, "it must be a whole number from 0 to 65535"),
        ({"metrics_port": True}, {}, "the argument metrics_port is True"),
        ({}, {semconv.ENV_METRICS_PORT: "94.64"}, "is '94.64'; it must be a whole number"),
        ({"service_name": ""}, {}, "it must be a non-empty string"),
        ({"assess": "here"}, {}, "it must be 'local' or 'monitor'"),
        ({"baggage_hosts": "https://search.example"}, {}, "it must be a host, or .host for all below it"),
        ({"baggage_hosts": ["search:80"]}, {}, "without a port"),
        ({"baggage_hosts": "*"}, {}, "it must be a host"),
        ({"baggage_hosts": [7]}, {}, "it must be non-empty strings"),
        ({"max_ids": 0}, {}, "it must be a whole number of at least 1"),
        ({"max_open": "many"}, {}, "it must be a whole number of at least 1"),
        ({"ttl_seconds": "soon"}, {}, "it must be a number of seconds above 0"),
        ({"ttl_seconds": float("inf")}, {}, "it must be a number of seconds above 0"),
        ({"ttl_seconds": True}, {}, "it must be a number of seconds above 0"),
        ({"hash_key": ""}, {}, "hash_key must be a non-empty string or bytes"),
        ({"citation_pattern": "["}, {}, "it is no regular expression"),
        ({"citation_pattern": re.compile(b"x")}, {}, "it must be a regular expression of text"),
        ({"resolver": 3}, {}, "it must be a resolver or the path of a resolver file"),
        ({"resolver": "no/such.json"}, {}, "'no/such.json'; the file cannot be read: No such file"),
        ({"resolver": "/dev/zero"}, {}, "'/dev/zero'; the file is no regular file but a device"),
        ({"resolver": "nul\0"}, {}, "'nul\\x00'; the file cannot be read: embedded null byte"),
        ({}, {semconv.ENV_RESOLVER: "no/such.json"}, f"the environment variable {semconv.ENV_RESOLVER} is"),
    ],
)
def test_bad_value_is_named_with_its_place(arguments: dict[str, Any], environ: dict[str, str], message: str) -> None:
    """The error names the value, where it came from, and what it must be."""
    with pytest.raises(ConfigurationError, match=re.escape(message)):
        Config.resolve(environ=environ, **arguments)


def test_hash_key_is_never_shown() -> None:
    """An error about the key does not repeat it."""
    with pytest.raises(ConfigurationError) as caught:
        Config.resolve(hash_key=31337, environ={})  # type: ignore[arg-type] # the point of the test
    assert "31337" not in str(caught.value)


@pytest.mark.parametrize(("name", "text"), [("r.json", json.dumps(DOCUMENT)), ("r.jsonl", LINES)])
def test_resolver_is_read_from_its_file(name: str, text: str, tmp_path: Path) -> None:
    """A path is read, as one document or as lines by its name; the file's bytes are what the hash is of."""
    file = tmp_path / name
    file.write_text(text, encoding="utf-8")
    for given in ({"resolver": str(file)}, {"resolver": file}, {"environ": {semconv.ENV_RESOLVER: str(file)}}):
        resolver = Config.resolve(**({"environ": {}} | given)).resolver
        assert resolver is not None
        assert resolver.resolve("doc#0") == "doc"
        assert resolver.sha256 == Resolver.parse(text.encode(), lines=name.endswith("l")).sha256


def test_file_that_is_no_resolver_is_said_so(tmp_path: Path) -> None:
    """What is wrong with the file is in the message."""
    file = tmp_path / "r.json"
    file.write_text('{"resolver_version": "1"}', encoding="utf-8")
    with pytest.raises(ConfigurationError, match=r"it is no resolver: .*'objects'"):
        Config.resolve(resolver=file, environ={})


def test_resolver_is_hashed_with_the_key() -> None:
    """With a key the resolver in force is that of the hashed IDs."""
    resolver = Config.resolve(resolver=Resolver({"doc": ["doc#0"]}), hash_key="key", environ={}).resolver
    assert resolver is not None
    assert resolver.resolve(hash_id(b"key", "doc#0")) == hash_id(b"key", "doc")
    assert resolver.resolve("doc#0") is None


def test_a_variable_that_is_almost_a_setting_is_named() -> None:
    """A misspelt variable is told with what was meant; those of others, and settings themselves, are none."""
    wrong = semconv.ENV_METRICS_PORT.replace("METRICS", "METRIC")
    others = {"HOME": "/", semconv.ENV_HASH_KEY: "secret", f"{semconv.ENVIRONMENT}OF_SOMEBODY_ELSE": "1"}
    assert misspelt({wrong: "9464", **others}) == [
        f"the environment variable {wrong} is no setting; did you mean {semconv.ENV_METRICS_PORT}?"
    ]


@pytest.mark.parametrize(
    ("text", "captures"),
    [("SPAN_ONLY", True), ("span_and_event", True), ("EVENT_ONLY", False), ("NO_CONTENT", False), ("something", False)],
)
def test_text_is_captured_where_its_variable_asks_for_it_on_spans(text: str, captures: bool) -> None:
    """The ecosystem's variable has values of its own, and one that is unknown asks for nothing and is no error."""
    assert Config.resolve(environ={CAPTURE: text}).records_text is captures


def test_a_key_keeps_text_inside_whatever_asks_for_it() -> None:
    """Where IDs are hashed no text is recorded, since it names documents."""
    assert not Config.resolve(environ={CAPTURE: "true"}, hash_key="key").records_text
