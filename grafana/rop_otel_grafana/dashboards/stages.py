"""The dashboard *Stages*: how good is each stage, and which one became worse?"""

from __future__ import annotations

from grafana_foundation_sdk.builders import dashboard as build

from rop_otel_grafana import queries
from rop_otel_grafana.dashboards.board import assemble, depth, handoff, stage
from rop_otel_grafana.panels import Panel, Query, Scale, bad_above, neutral
from rop_otel_grafana.promql import HANDOFF, STAGE, TARGET
from rop_otel_grafana.settings import Settings

_STAGE = f"{{{{{HANDOFF}}}}} {{{{{STAGE}}}}}"
_SCORE = Scale(unit="percentunit", steps=((0.0, "red"), (0.5, "orange"), (0.8, "green")), high=1.0)
_SLOW = 1.0

_MEASURES = (
    ("recall@$k", "recall", "$k", "Share of the wanted objects among the first k."),
    ("MRR", "rr", "", "Mean of 1 / rank of the first wanted object."),
    ("nDCG@10", "ndcg", "10", "Gain of the first ten, discounted by rank, against the best possible order."),
    ("Precision@5", "precision", "5", "Share of the first five that are wanted; at most 20 % for a selected object."),
)


def board(settings: Settings) -> build.Dashboard:
    """Return the dashboard."""
    return assemble(
        settings,
        uid="rop-stages",
        title="Stages",
        description="How good is each stage, for selected and for judged objects, and how long does it take?",
        variables=(handoff(settings), stage(settings), depth()),
        rows={
            "Quality: selected objects left, judged objects right": _quality(settings),
            "Arms and fusion": _arms(settings),
            "Work": _work(settings),
        },
    )


def _quality(settings: Settings) -> list[Panel]:
    return [
        Panel(
            title=f"{title}, {target}",
            description=f"{words} By stage; `shown` is what the reader was shown. A mean over the lists for which it is"
            " decided; nothing is shown where none is. From a reorder on, ranks are places in the context.",
            kind="lines",
            queries=(Query(expression=queries.score(settings, target=target, measure=measure, k=k), legend=_STAGE),),
            scale=neutral("percentunit") if measure == "precision" else _SCORE,
        )
        for title, measure, k, words in _MEASURES
        for target in ("selected", "judged")
    ]


def _arms(settings: Settings) -> list[Panel]:
    return [
        Panel(
            title="Each arm against fusion, recall@$k",
            description="Recall of an arm minus recall of the fusion that it feeds. Above 0 the arm alone would find"
            " more than the hybrid does.",
            kind="lines",
            queries=(Query(expression=queries.arm_gain(settings), legend=f"{_STAGE} {{{{{TARGET}}}}}"),),
            scale=Scale(unit="percentunit", steps=((-1.0, "green"), (0.0, "orange"), (0.1, "red")), low=None),
            width=24,
        )
    ]


def _work(settings: Settings) -> list[Panel]:
    return [
        Panel(
            title="Duration",
            description="Median and 95th percentile of the time that a stage takes, from a histogram.",
            kind="lines",
            queries=(
                Query(expression=queries.duration(settings, 0.5), legend=f"{_STAGE} p50"),
                Query(expression=queries.duration(settings, 0.95), legend=f"{_STAGE} p95"),
            ),
            scale=bad_above(_SLOW, unit="s"),
        ),
        Panel(
            title="Executions",
            description="How often each stage runs. A stage that stops while others go on is left out or not observed.",
            kind="lines",
            queries=(Query(expression=queries.executions(settings), legend=_STAGE),),
            scale=neutral("ops"),
        ),
        Panel(
            title="IDs returned",
            description="Mean length of each stage's list.",
            kind="gauge",
            queries=(Query(expression=queries.returned(settings), legend=_STAGE),),
            scale=neutral("short"),
            width=24,
        ),
    ]
