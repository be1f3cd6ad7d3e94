"""``rop-otel explain``: why one record got its verdict."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from rop_otel.cli.run_report import (
    DeclarationArgument,
    FileBytesOption,
    Format,
    FormatOption,
    LineBytesOption,
    RecordsOption,
    UnpackedBytesOption,
    limits_of,
)
from rop_otel.cli.terminal import say, say_json
from rop_otel.core.escapes import printable, printable_json, readable, readable_words
from rop_otel.errors import InputError


def explain(
    declaration: DeclarationArgument,
    records: RecordsOption,
    record: Annotated[str, typer.Option(metavar="ID", show_default=False, help="The record ID.")],
    output_format: FormatOption = Format.TEXT,
    max_line_bytes: LineBytesOption = None,
    max_file_bytes: FileBytesOption = None,
    max_unpacked_bytes: UnpackedBytesOption = None,
) -> None:
    """Explain one record: selection, objects, each returned ID, the cutoff, the verdict and the check that gave it."""
    from rop_otel.evaluation.declaration_reader import read_declaration  # imported here: --help need not wait for it
    from rop_otel.evaluation.record_explanation import explain_record

    limits = limits_of(
        max_line_bytes=max_line_bytes, max_file_bytes=max_file_bytes, max_unpacked_bytes=max_unpacked_bytes
    )
    opened = read_declaration(declaration, limits=limits)
    found = list(explain_record(opened, records, record, limits=limits))
    population = () if opened.declaration is None else opened.declaration.population or ()
    if not found and record not in population:
        named = readable(record, write=repr)
        raise InputError(f"no observation of {named}, and it is not expected either", file=", ".join(records))
    if output_format is Format.JSON:
        shape = [{"file": each.file, "line": each.line, **each.explanation.as_dict()} for each in found]
        say_json([printable_json(json.dumps(shape, indent=2)).encode() + b"\n"])
        return
    for fault in opened.faults:
        say(readable_words(f"{fault.code} at {fault.path or 'the document'}: {fault.message}"))
    for each in found:
        say(printable(f"{each.file}:{each.line}"))
        for line in each.explanation.lines():
            say(printable(line))
    if len(found) > 1:
        say(f"{len(found)} observations of one record ID: the run is invalid where they should be one.")
    if not found:
        say(f"{readable(record)}: MISSING\n  because it is expected and was never observed")
