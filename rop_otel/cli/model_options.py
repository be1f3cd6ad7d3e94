"""The options that name models by path, and how to use them."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rop_otel.errors import ConfigurationError

if TYPE_CHECKING:
    from rop_otel.reference.models import ModelFiles


class Pooling(StrEnum):
    """How a sentence encoder makes one vector of its token vectors."""

    MEAN = "mean"
    CLS = "cls"


EncoderOption = Annotated[
    Path | None, typer.Option(metavar="FOLDER", help="Another sentence encoder: ONNX with its tokenizer.json.")
]
CrossEncoderOption = Annotated[
    Path | None, typer.Option(metavar="FOLDER", help="A cross-encoder for reranking: ONNX with its tokenizer.json.")
]
PoolingOption = Annotated[
    Pooling | None, typer.Option(help="How --encoder makes one vector of its tokens'; mean by default.")
]
QueryPrefixOption = Annotated[
    str | None, typer.Option(metavar="TEXT", help="Put before queries, where --encoder was trained with it.")
]
PassagePrefixOption = Annotated[
    str | None, typer.Option(metavar="TEXT", help="Put before passages, where --encoder was trained with it.")
]
MaxPiecesOption = Annotated[
    int | None,
    typer.Option(
        min=8, help="Longest input in tokens: 128 for --encoder, 256 for --cross-encoder, or this for those given."
    ),
]


def chosen_models(
    encoder: Path | None,
    cross_encoder: Path | None,
    *,
    pooling: Pooling | None,
    query_prefix: str | None,
    passage_prefix: str | None,
    max_pieces: int | None,
) -> tuple[ModelFiles | None, ModelFiles | None]:
    """Return the sentence encoder and the cross-encoder that the options name, None for one that none names.

    Raises:
        ConfigurationError: An option says how to use a model that no other names.
        PipelineError: A folder holds no model.
    """
    if encoder is None and (pooling, query_prefix, passage_prefix) != (None, None, None):
        raise ConfigurationError("--pooling, --query-prefix and --passage-prefix say how to use --encoder: give it too")
    if max_pieces is not None and encoder is None and cross_encoder is None:
        raise ConfigurationError("--max-pieces says how to use --encoder or --cross-encoder: give one of them too")
    # Imported here, so that --help need not wait for it.
    from rop_otel.reference.models import CROSS_ENCODER_PIECES, ENCODER_PIECES, model_in

    sentences = pairs = None
    if encoder is not None:
        sentences = replace(
            model_in(encoder),
            pooling=(pooling or Pooling.MEAN).value,
            query_prefix=query_prefix or "",
            passage_prefix=passage_prefix or "",
            max_pieces=max_pieces or ENCODER_PIECES,
        )
    if cross_encoder is not None:
        pairs = replace(model_in(cross_encoder), max_pieces=max_pieces or CROSS_ENCODER_PIECES)
    return sentences, pairs
