"""``rop-otel study run``: rankings, tables and transitions in one go."""

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
)
from rop_otel.cli.study.options import IntervalsOption, SeedOption, open_context, output
from rop_otel.cli.study.rank import CorpusOption, DepthOption, FormOption, QuestionsOption, RuleOption, rank
from rop_otel.cli.terminal import say


def run(
    corpus: CorpusOption,
    questions: QuestionsOption,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder for rankings, tables and transitions.")] = Path(
        "study"
    ),
    rule: RuleOption = None,
    form: FormOption = None,
    depth: DepthOption = 20,
    intervals: IntervalsOption = 10_000,
    seed: SeedOption = 1,
    encoder: EncoderOption = None,
    cross_encoder: CrossEncoderOption = None,
    pooling: PoolingOption = None,
    query_prefix: QueryPrefixOption = None,
    passage_prefix: PassagePrefixOption = None,
    max_pieces: MaxPiecesOption = None,
) -> None:
    """Freeze rankings, print which rule loses the selected page how often, and write every table.

    It is rank, tables and transitions, one after the other. Stopped, it goes on where it was when it is called again.
    """
    rank(
        corpus,
        questions,
        out,
        rule=rule,
        form=form,
        depth=depth,
        encoder=encoder,
        cross_encoder=cross_encoder,
        pooling=pooling,
        query_prefix=query_prefix,
        passage_prefix=passage_prefix,
        max_pieces=max_pieces,
    )
    from rop_otel.study.rule_transitions import transitions  # imported here: --help need not wait for it
    from rop_otel.study.study_report import tables_report, transitions_report
    from rop_otel.study.tables.every_table import chosen

    context = open_context(str(out), at=None, intervals=intervals, seed=seed)
    changes = transitions(context, before=None, after=None, form=None, group=None)
    output(tables_report(context, chosen(()), kind="json"), str(out / "tables.json"))
    output(tables_report(context, chosen(()), kind="markdown"), str(out / "tables.md"))
    output(tables_report(context, chosen(()), kind="html"), str(out / "tables.html"))
    output(transitions_report(changes, kind="json"), str(out / "transitions.json"))
    output(transitions_report(changes, kind="markdown"), str(out / "transitions.md"))
    output(tables_report(context, chosen([5]), kind="text"), None)
    say(f"All tables are in {out / 'tables.md'}, with plots in {out / 'tables.html'}.")
    say(f"What changes from rule to rule is in {out / 'transitions.md'}.")
