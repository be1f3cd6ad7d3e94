"""``rop-otel export``: write the spans that a monitor keeps."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from rop_otel.errors import InputError


def export(
    store: Annotated[str, typer.Argument(metavar="FILE", show_default=False, help="The store of a monitor.")],
    output: Annotated[
        Path | None, typer.Option("--output", metavar="FILE", help="Write them there instead of printing them.")
    ] = None,
) -> None:
    """Write the spans of the handoffs that a monitor keeps: OTLP JSON, one request a line, for rop-otel replay.

    The monitor may run meanwhile. Spans whose handoffs are still open are left out.
    """
    from rop_otel.monitor.sqlite_store import SqliteStore  # imported here: --help need not wait for it
    from rop_otel.spans.otlp_writer import write

    kept = SqliteStore(store, only_read=True)
    try:
        if output is None:
            sys.stdout.flush()
            for spans in kept.settled_spans():
                write(spans, sys.stdout.buffer)
            sys.stdout.buffer.flush()
            return
        with output.open("wb") as stream:
            for spans in kept.settled_spans():
                write(spans, stream)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror or error}", file=str(output)) from error
    finally:
        kept.close()
