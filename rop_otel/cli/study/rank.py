"""``rop-otel study rank``: every recorded selection by every query form and rule, frozen."""

from __future__ import annotations

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
from rop_otel.cli.study.progress import shown_progress
from rop_otel.cli.terminal import say

CorpusOption = Annotated[
    list[Path], typer.Option(metavar="FILE…", help="Pages, JSON Lines, plain, gzip or zstd: {id, title, text}.")
]
QuestionsOption = Annotated[
    list[Path],
    typer.Option(
        metavar="FILE…", help="Records: {id, question, selected_id?, gold_ids?, selector?, answer?, table_id?}."
    ),
]
RuleOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME…", help="Handoff rules, reserved:RULE, name=module:function; all built-in ones by default."
    ),
]
FormOption = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME…", help="Query forms, name=module:function; question and title by default."),
]
DepthOption = Annotated[int, typer.Option(min=1, max=100, help="Most pages in a list.")]
OutOption = Annotated[Path, typer.Option(metavar="DIR", help="Folder for the rankings and their manifest.")]


def rank(
    corpus: CorpusOption,
    questions: QuestionsOption,
    out: OutOption,
    rule: RuleOption = None,
    form: FormOption = None,
    depth: DepthOption = 20,
    encoder: EncoderOption = None,
    cross_encoder: CrossEncoderOption = None,
    pooling: PoolingOption = None,
    query_prefix: QueryPrefixOption = None,
    passage_prefix: PassagePrefixOption = None,
    max_pieces: MaxPiecesOption = None,
) -> None:
    """Rank pages for every record by every query form and handoff rule, and freeze the lists with a manifest.

    Stopped, it goes on where it was when it is called again; called once more, it finds everything done.
    """
    from rop_otel.reference.libraries import require_libraries  # imported here: --help need not wait for it

    require_libraries(("numpy",))
    from rop_otel.cli.study.rank_run import RankRequest, freeze_rankings

    models = chosen_models(
        encoder,
        cross_encoder,
        pooling=pooling,
        query_prefix=query_prefix,
        passage_prefix=passage_prefix,
        max_pieces=max_pieces,
    )
    request = RankRequest(
        corpus=tuple(corpus),
        questions=tuple(questions),
        rules=tuple(rule or ()),
        forms=tuple(form or ()),
        depth=depth,
        out=out,
        encoder=models[0],
        cross_encoder=models[1],
    )
    with shown_progress() as progress:
        sentence = freeze_rankings(request, progress)
    say(sentence)
