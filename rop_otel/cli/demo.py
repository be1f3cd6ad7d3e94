"""``rop-otel demo``: the reference pipeline over real text, watched live."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rop_otel.cli.terminal import create_console
from rop_otel.errors import ConfigurationError

if TYPE_CHECKING:
    from rop_otel.reference.models import ModelFiles


class QueryText(StrEnum):
    """What is looked for."""

    QUESTION = "question"
    TITLE = "title"


class Pooling(StrEnum):
    """How a sentence encoder makes one vector of its token vectors."""

    MEAN = "mean"
    CLS = "cls"


_Pooling = Annotated[
    Pooling | None, typer.Option(help="How --encoder makes one vector of its tokens'; mean by default.")
]
_QueryPrefix = Annotated[
    str | None, typer.Option(metavar="TEXT", help="Put before queries, where --encoder was trained with it.")
]
_PassagePrefix = Annotated[
    str | None, typer.Option(metavar="TEXT", help="Put before passages, where --encoder was trained with it.")
]
_MaxPieces = Annotated[
    int | None,
    typer.Option(
        min=8, help="Longest input in tokens: 128 for --encoder, 256 for --cross-encoder, or this for those given."
    ),
]


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
        bool, typer.Option("--serve", metavar="", help="Keep answering, and serve /metrics on loopback.")
    ] = False,
    port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="Port of /metrics with --serve; 9464 by default.")
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Ask only the first so many questions.")] = None,
    encoder: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Another sentence encoder: ONNX with its tokenizer.json.")
    ] = None,
    cross_encoder: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="A cross-encoder for reranking: ONNX with its tokenizer.json.")
    ] = None,
    pooling: _Pooling = None,
    query_prefix: _QueryPrefix = None,
    passage_prefix: _PassagePrefix = None,
    max_pieces: _MaxPieces = None,
) -> None:
    """Index real text, answer questions over it, and show what reached the reader and where the rest was lost.

    By default the text is the documentation inside this Python's own standard library.
    """
    # Imported here, so that --help need not wait for it and a missing library gets its own message.
    from rop_otel.reference.libraries import require_libraries

    if bool(corpus) != bool(questions):
        raise ConfigurationError("--corpus and --questions go together")
    if port is not None and not serve:
        raise ConfigurationError("--port says where to serve: give --serve too")
    if encoder is None and (pooling, query_prefix, passage_prefix) != (None, None, None):
        raise ConfigurationError("--pooling, --query-prefix and --passage-prefix say how to use --encoder: give it too")
    if max_pieces is not None and encoder is None and cross_encoder is None:
        raise ConfigurationError("--max-pieces says how to use --encoder or --cross-encoder: give one of them too")
    require_libraries()
    from rop_otel.cli.demo_run import Request, list_faults, run_demo

    console = create_console()
    if fault == "list":
        list_faults(console)
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
        limit=limit,
        encoder=_encoder(encoder, pooling, query_prefix, passage_prefix, max_pieces) if encoder else None,
        cross_encoder=_cross_encoder(cross_encoder, max_pieces) if cross_encoder else None,
    )
    raise typer.Exit(run_demo(request, console))


def _encoder(
    folder: Path, pooling: Pooling | None, query_prefix: str | None, passage_prefix: str | None, pieces: int | None
) -> ModelFiles:
    from rop_otel.reference.models import ENCODER_PIECES, model_in

    return replace(
        model_in(folder),
        pooling=(pooling or Pooling.MEAN).value,
        query_prefix=query_prefix or "",
        passage_prefix=passage_prefix or "",
        max_pieces=pieces or ENCODER_PIECES,
    )


def _cross_encoder(folder: Path, pieces: int | None) -> ModelFiles:
    from rop_otel.reference.models import CROSS_ENCODER_PIECES, model_in

    return replace(model_in(folder), max_pieces=pieces or CROSS_ENCODER_PIECES)
