"""The dashboard *Stages*: how good is each stage, and which one became worse?"""

from __future__ import annotations

from grafana_foundation_sdk.builders import dashboard as build

from rop_otel.core.measures import RECALL
from rop_otel.core.measures.every import MEASURES
from rop_otel.core.measures.measure import Measure
from rop_otel_grafana import queries
from rop_otel_grafana.dashboards.board import assemble, depth, handoff, stage
from rop_otel_grafana.panels import Panel, Query, Scale, bad_above, neutral
from rop_otel_grafana.promql import HANDOFF, STAGE, TARGET
from rop_otel_grafana.settings import Settings

_STAGE = f"{{{{{HANDOFF}}}}} {{{{{STAGE}}}}}"
_SCORE = Scale(unit="percentunit", steps=((0.0, "red"), (0.5, "orange"), (0.8, "green")), high=1.0)
_SLOW = 1.0


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
            title=f"{measure.title}{k and '@'}{k}, {target}",
            description=f"{measure.description} By stage; `shown` is what the reader was shown. A mean over the lists"
            " for which it is decided; nothing is shown where none is. From a reorder on, ranks are places in the"
            " context.",
            kind="lines",
            queries=(
                Query(expression=queries.score(settings, target=target, measure=measure.name, k=k), legend=_STAGE),
            ),
            scale=_SCORE if measure.fills else neutral("percentunit"),
        )
        for measure, k in zip(MEASURES, map(_depth, MEASURES), strict=True)
        for target in ("selected", "judged")
    ]


def _depth(measure: Measure) -> str:
    """Return the depth at which a measure is shown: the dashboard's variable where it has those, else the largest."""
    return "$k" if measure.ks == RECALL.ks else str(measure.ks[-1] or "")


def _arms(settings: Settings) -> list[Panel]:
    return [
        Panel(
            title=f"Each arm against fusion, {RECALL.title}@$k",
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
