"""What ``rop-otel rules`` and ``rop-otel dashboards`` share: their settings."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import ValidationError

from rop_otel.errors import ConfigurationError, InputError, remedy

if TYPE_CHECKING:
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
        raise ConfigurationError("; ".join(_problems(error))) from error


def pairs(texts: list[str] | None, *, option: str) -> dict[str, str] | None:
    """Return NAME=VALUE texts as a table; None where there is none.

    Raises:
        ConfigurationError: A text has no ``=``.
    """
    if not texts:
        return None
    for text in texts:
        if "=" not in text:
            raise ConfigurationError(f"{option} {text!r}: write NAME=VALUE")
    return dict(text.split("=", 1) for text in texts)


def _problems(error: ValidationError) -> list[str]:
    return [
        f"setting {'.'.join(map(str, problem['loc'])) or 'in all'}: {problem['msg']}, got {problem['input']!r}"
        for problem in error.errors(include_url=False)
    ]
