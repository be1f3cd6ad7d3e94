"""What ``rop-otel rules`` and ``rop-otel dashboards`` share: their settings."""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import ValidationError

from rop_otel.errors import ConfigurationError, InputError, remedy

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails
    from rop_otel_grafana import Settings


def resolve_settings(config: Path | None, **options: object) -> Settings:
    """Return the settings of a file, with options of the command line in place of what it says.

    Args:
        config: A TOML file.
        options: By the name of the setting; None where the option was not given.

    Raises:
        InputError: The file is no TOML.
        ConfigurationError: A setting is unknown or has a value that cannot be used, or a library is missing.
    """
    try:
        from rop_otel_grafana import Settings, read_settings
    except ImportError as error:
        raise ConfigurationError(f"{error.name} is missing: {remedy('grafana')}") from error
    try:
        given = {} if config is None else read_settings(config)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"not TOML: {error}", file=str(config)) from error
    try:
        return Settings.model_validate(given | {name: value for name, value in options.items() if value is not None})
    except ValidationError as error:
        schema = Settings.model_json_schema()
        known = {name for each in (schema, *schema["$defs"].values()) for name in each.get("properties", ())}
        raise ConfigurationError("; ".join(_problems(error, known))) from error


def pairs(texts: list[str] | None, *, option: str, value: str = "VALUE") -> dict[str, str] | None:
    """Return NAME=VALUE texts as a table; None where there is none.

    Args:
        texts: As they were given.
        option: With which.
        value: What the option's help calls the value.

    Raises:
        ConfigurationError: A text has no ``=``.
    """
    if not texts:
        return None
    for text in texts:
        if "=" not in text:
            raise ConfigurationError(f"{option} {text!r}: write NAME={value}")
    return dict(text.split("=", 1) for text in texts)


def _problems(error: ValidationError, known: Collection[str]) -> list[str]:
    return [_problem(problem, known) for problem in error.errors(include_url=False)]


def _problem(problem: ErrorDetails, known: Collection[str]) -> str:
    name = ".".join(map(str, problem["loc"]))
    if problem["type"] == "extra_forbidden":
        near = [each for each in get_close_matches(str(problem["loc"][-1]), known, n=1) if not name.endswith(each)]
        return f"setting {name}: there is none of this name{''.join(f'; did you mean {each}?' for each in near)}"
    if problem["type"] == "missing":
        return f"setting {name}: it is missing"
    message = problem["msg"].removeprefix("Value error, ")
    if problem["type"] == "value_error" and isinstance(problem["input"], Mapping):
        return f"setting {name}: {message}" if name else message  # its message says which of the table's values clash
    return f"setting {name}: {message}, got {problem['input']!r}"
