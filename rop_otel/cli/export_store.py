"""``rop-otel export``: write the spans that a monitor keeps."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rop_otel.cli.terminal import say_json
from rop_otel.errors import InputError

if TYPE_CHECKING:
    from rop_otel.monitor.store import Store


def export(
    store: Annotated[str, typer.Argument(metavar="FILE", show_default=False, help="The store of a monitor.")],
    output: Annotated[
        Path | None, typer.Option("--output", metavar="FILE", help="Write them there instead of printing them.")
    ] = None,
) -> None:
    """Write the spans of the handoffs that a monitor keeps: OTLP JSON, one request a line, for rop-otel replay.

    The monitor may run meanwhile. Spans whose handoffs are still open are left out.
    """
    from rop_otel.core.escapes import printable_json  # imported here: --help need not wait for it
    from rop_otel.monitor.sqlite_store import SqliteStore

    kept = SqliteStore(store, only_read=True)
    try:
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


def _lines(store: Store) -> Iterator[bytes]:
    from rop_otel.spans.otlp_writer import write

    for spans in store.settled_spans():
        stream = io.BytesIO()
        write(spans, stream)
        yield stream.getvalue()
