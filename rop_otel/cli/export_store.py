"""``rop-otel export``: write the spans or the handoffs that a monitor keeps."""

from __future__ import annotations

import io
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rop_otel.cli.terminal import say_json
from rop_otel.errors import ConfigurationError, InputError, remedy

if TYPE_CHECKING:
    from rop_otel.monitor.store import Store


class Form(StrEnum):
    """What is written."""

    OTLP = "otlp"
    PARQUET = "parquet"


def export(
    store: Annotated[str, typer.Argument(metavar="FILE", show_default=False, help="The store of a monitor.")],
    output: Annotated[
        Path | None, typer.Option("--output", metavar="FILE", help="Write them there instead of printing them.")
    ] = None,
    form: Annotated[
        Form, typer.Option("--format", help="otlp: spans, for rop-otel replay; parquet: a row for each handoff.")
    ] = Form.OTLP,
) -> None:
    """Write the spans of the handoffs that a monitor keeps: OTLP JSON, one request a line, for rop-otel replay.

    Or write one row for each handoff in Parquet, which rop-otel evaluate reads; this needs the extra rop-otel[parquet]
    and --output. The monitor may run meanwhile. Spans whose handoffs are still open are left out.
    """
    from rop_otel.core.escapes import printable_json  # imported here: --help need not wait for it
    from rop_otel.monitor.sqlite_store import SqliteStore

    if form is Form.PARQUET and output is None:
        raise ConfigurationError("Parquet is written to a file; name it with --output")
    kept = SqliteStore(store, only_read=True)
    try:
        if form is Form.PARQUET and output is not None:
            _write_parquet(kept, output)
            return
        if output is None:
            say_json(printable_json(line.decode()).encode() for line in _lines(kept))
            return
        try:
            with output.open("wb") as stream:
                stream.writelines(_lines(kept))
        except OSError as error:
            raise InputError(f"cannot be written: {error.strerror or error}", file=str(output)) from error
    finally:
        kept.close()


def _write_parquet(store: Store, output: Path) -> None:
    from rop_otel.spans.conventions import Rules

    try:
        from rop_otel.monitor.parquet_export import write_parquet
    except ImportError as error:
        raise ConfigurationError(f"{error.name} is missing: {remedy('parquet')}") from error
    try:
        write_parquet(store, output, Rules.of_environment())
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror or error}", file=str(output)) from error


def _lines(store: Store) -> Iterator[bytes]:
    from rop_otel.spans.otlp_writer import write

    for spans in store.settled_spans():
        stream = io.BytesIO()
        write(spans, stream)
        yield stream.getvalue()
