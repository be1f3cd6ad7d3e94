"""``rop-otel declare``: seal a declaration, every count and hash computed.

Long because a command's signature lists its options.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from rop_otel.cli.run_report import FileBytesOption, LineBytesOption, UnpackedBytesOption, limits_of
from rop_otel.cli.terminal import say
from rop_otel.core.escapes import printable


class Mode(StrEnum):
    """Whether the selected object must be returned."""

    HARD = "hard"
    SOFT = "soft"
    OPEN = "open"


class Rule(StrEnum):
    """The membership rule."""

    ANY = "any"
    ALL = "all"


_CLAIM, _TARGET, _RECORDS = "1. Which claim applies?", "2. Which object counts?", "3. Which records belong?"
_RETURNED, _POLICY = "4. What counts as returned?", "5. Who decided?"


def declare(
    folder: Annotated[str, typer.Argument(metavar="FOLDER", show_default=False, help="The folder to write.")],
    interface: Annotated[str, typer.Option(help="Name of the interface.", rich_help_panel=_CLAIM)],
    component: Annotated[str, typer.Option(help="Component whose output is checked.", rich_help_panel=_CLAIM)],
    selection: Annotated[
        str, typer.Option(metavar="PATH", help="Field of the selected key, or of the witness.", rich_help_panel=_TARGET)
    ],
    returned: Annotated[
        str, typer.Option(metavar="PATH", help="Field of the returned IDs: results[].id", rich_help_panel=_RETURNED)
    ],
    cutoff: Annotated[int, typer.Option(min=1, help="How many the reader sees.", rich_help_panel=_RETURNED)],
    resolver: Annotated[
        str,
        typer.Option(
            metavar="FILE", help="A resolver, or a table chunk → object: CSV, JSON Lines.", rich_help_panel=_RETURNED
        ),
    ],
    authority: Annotated[str, typer.Option(help="Who decided.", rich_help_panel=_POLICY)],
    population: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="The expected record IDs, one a line.", rich_help_panel=_RECORDS),
    ] = None,
    population_column: Annotated[
        str | None,
        typer.Option(metavar="PATH", help="Take them from this field of a JSON Lines file.", rich_help_panel=_RECORDS),
    ] = None,
    record_field: Annotated[
        str, typer.Option(metavar="PATH", help="Field of the record ID.", rich_help_panel=_RECORDS)
    ] = "record_id",
    name: Annotated[
        str | None,
        typer.Option("--id", help="The declaration's name; the interface's by default.", rich_help_panel=_CLAIM),
    ] = None,
    interface_version: Annotated[str, typer.Option(help="Its version.", rich_help_panel=_CLAIM)] = "v1",
    specification: Annotated[
        str | None,
        typer.Option(help="Where the requirement is documented; the interface by default.", rich_help_panel=_CLAIM),
    ] = None,
    mode: Annotated[
        Mode, typer.Option(help="hard: the selected object must be returned.", rich_help_panel=_CLAIM)
    ] = Mode.HARD,
    witness_hash: Annotated[
        str | None, typer.Option(metavar="PATH", help="Field of the witness's hash.", rich_help_panel=_TARGET)
    ] = None,
    inverse_map: Annotated[
        str | None, typer.Option(metavar="FILE", help="Witness value → selected key.", rich_help_panel=_TARGET)
    ] = None,
    trace: Annotated[
        str | None,
        typer.Option(metavar="PATH", help="Field of the dataset's judged objects.", rich_help_panel=_TARGET),
    ] = None,
    query_form: Annotated[str | None, typer.Option(help="How queries are built.", rich_help_panel=_RECORDS)] = None,
    rule: Annotated[Rule, typer.Option(help="The membership rule.", rich_help_panel=_RETURNED)] = Rule.ANY,
    depth: Annotated[
        int | None, typer.Option(min=1, help="How deep every list is stored.", rich_help_panel=_RETURNED)
    ] = None,
    chunk_column: Annotated[
        str | None, typer.Option(help="Column of the table's chunk IDs.", rich_help_panel=_RETURNED)
    ] = None,
    object_column: Annotated[
        str | None, typer.Option(help="Column of the table's object IDs.", rich_help_panel=_RETURNED)
    ] = None,
    resolver_version: Annotated[
        str | None, typer.Option(help="The table's version.", rich_help_panel=_RETURNED)
    ] = None,
    producer: Annotated[
        str | None, typer.Option(help="Whose output it is; the component by default.", rich_help_panel=_POLICY)
    ] = None,
    revision: Annotated[str, typer.Option(help="Revision of the policy.", rich_help_panel=_POLICY)] = "1",
    prompt: Annotated[str | None, typer.Option(help="Kept as provenance, never read.")] = None,
    corpus_uri: Annotated[str | None, typer.Option(help="Carried, never interpreted.")] = None,
    composite_corpus_key: Annotated[str | None, typer.Option(help="Carried, never interpreted.")] = None,
    max_line_bytes: LineBytesOption = None,
    max_file_bytes: FileBytesOption = None,
    max_unpacked_bytes: UnpackedBytesOption = None,
) -> None:
    """Write the sealed folder of a declaration, with every count and hash computed.

    The population has to be fixed before any output is produced: declare first, then run.
    This verb does not read Parquet: write the record IDs as a list or JSON Lines, the table as CSV or JSON Lines.
    """
    from rop_otel.core.profile.sealing import Decisions  # imported here: --help need not wait for it
    from rop_otel.evaluation.declaration_writer import read_population, read_resolver_or_table, write_folder

    if (witness_hash is None) != (inverse_map is None):
        raise typer.BadParameter("a witness target needs both --witness-hash and --inverse-map")
    if population is None and mode is Mode.HARD:
        raise typer.BadParameter("hard mode needs --population")
    if population is None and (population_column is not None or record_field != "record_id"):
        raise typer.BadParameter("--population-column and --record-field need --population")
    carried = {"prompt": prompt, "corpus_uri": corpus_uri, "composite_corpus_key": composite_corpus_key}
    decisions = Decisions(
        declaration_id=name or interface,
        interface=interface,
        interface_version=interface_version,
        specification=specification or interface,
        component=component,
        mode=mode.value,
        authority=authority,
        producer=producer or component,
        revision=revision,
        selection_field=selection,
        witness_hash_field=witness_hash,
        output_field=returned,
        cutoff=cutoff,
        rule=rule.value,
        record_field=record_field,
        depth=depth,
        trace_field=trace,
        query_form=query_form,
        optional={key: value for key, value in carried.items() if value is not None},
    )
    limits = limits_of(
        max_line_bytes=max_line_bytes, max_file_bytes=max_file_bytes, max_unpacked_bytes=max_unpacked_bytes
    )
    members = read_resolver_or_table(
        resolver, chunk=chunk_column, object_=object_column, version=resolver_version, limits=limits
    )
    expected = None if population is None else read_population(population, field=population_column, limits=limits)
    place = write_folder(
        folder,
        decisions,
        resolver=members,
        population=expected,
        inverse_map=inverse_map,
        limits=limits,
    )
    named = printable(str(place))
    say(f"Sealed {named}. Now run, then: rop-otel evaluate {named} --records FILE")
