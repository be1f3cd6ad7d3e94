"""``rop-otel demo``: the reference pipeline over real text, watched live."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from rop_otel.cli.model_options import (
    CrossEncoderOption,
    EncoderOption,
    MaxPiecesOption,
    PassagePrefixOption,
    PoolingOption,
    QueryPrefixOption,
    chosen_models,
)
from rop_otel.cli.terminal import create_console
from rop_otel.errors import ConfigurationError


class QueryText(StrEnum):
    """What is looked for."""

    QUESTION = "question"
    TITLE = "title"


def demo(
    corpus: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE…", help="Pages of your own, JSON Lines, plain, gzip or zstd: {id, title, text}."),
    ] = None,
    questions: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE…", help="Questions for them: {id, question, selected_id?, gold_ids?}."),
    ] = None,
    query: Annotated[
        QueryText, typer.Option(help="Look for the question, or for the selected object's title.")
    ] = QueryText.QUESTION,
    fault: Annotated[
        str | None, typer.Option(metavar="NAME", help="Inject one failure and see it caught; 'list' names them.")
    ] = None,
    export: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the spans as OTLP JSON, for rop-otel replay.")
    ] = None,
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a page that draws every handoff, one HTML file.")
    ] = None,
    serve: Annotated[
        bool,
        typer.Option("--serve", metavar="", help="Keep answering; serve /metrics and a live page on loopback."),
    ] = False,
    port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="Port of /metrics with --serve; 9464 by default.")
    ] = None,
    page_port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="Port of the live page with --serve; 9465 by default.")
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Ask only the first so many questions.")] = None,
    encoder: EncoderOption = None,
    cross_encoder: CrossEncoderOption = None,
    pooling: PoolingOption = None,
    query_prefix: QueryPrefixOption = None,
    passage_prefix: PassagePrefixOption = None,
    max_pieces: MaxPiecesOption = None,
) -> None:
    """Index real text, answer questions over it, and show what reached the reader and where the rest was lost.

    By default the text is the documentation inside this Python's own standard library.
    """
    # Imported here, so that --help need not wait for it and a missing library gets its own message.
    from rop_otel.reference.libraries import require_libraries

    if bool(corpus) != bool(questions):
        raise ConfigurationError("--corpus and --questions go together")
    for option, given in (("--port", port), ("--page-port", page_port)):
        if given is not None and not serve:
            raise ConfigurationError(f"{option} says where to serve: give --serve too")
    encoder_files, cross_encoder_files = chosen_models(
        encoder,
        cross_encoder,
        pooling=pooling,
        query_prefix=query_prefix,
        passage_prefix=passage_prefix,
        max_pieces=max_pieces,
    )
    require_libraries()
    from rop_otel.cli.demo_run import Request, list_faults, run_demo

    if fault == "list":
        list_faults(create_console())
        return
    request = Request(
        corpus=tuple(corpus or ()),
        questions=tuple(questions or ()),
        query=query.value,
        fault=fault,
        export=export,
        html=html,
        serve=serve,
        port=port,
        page_port=page_port,
        limit=limit,
        encoder=encoder_files,
        cross_encoder=cross_encoder_files,
    )
    raise typer.Exit(run_demo(request, create_console()))
