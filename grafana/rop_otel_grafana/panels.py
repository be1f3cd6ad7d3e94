"""Panels: a query, a unit, thresholds and a description, the same way everywhere.

Missing data is grey and labelled: every row of thresholds begins with grey, so that missing data never looks healthy.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from grafana_foundation_sdk.builders import bargauge, prometheus, stat, table, timeseries
from grafana_foundation_sdk.builders import common as common_builders
from grafana_foundation_sdk.builders import dashboard as build
from grafana_foundation_sdk.models import common
from grafana_foundation_sdk.models import dashboard as model
from grafana_foundation_sdk.models.prometheus import PromQueryFormat

GREY = "#808080"
NO_DATA = "no data"

Step = tuple[float, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """How values are to be read.

    Args:
        unit: Of Grafana.
        steps: From which value on which colour.
        low, high: Ends of the axis.
    """

    unit: str
    steps: tuple[Step, ...]
    low: float | None = 0.0
    high: float | None = None


def good_when_high(target: float) -> Scale:
    """Return the scale of a share that should reach a target."""
    near = round(target - (1 - target), 6)
    steps = ((0.0, "red"), (max(near, 0.01), "orange"), (target, "green"))
    return Scale(unit="percentunit", steps=steps, high=1.0)


def bad_above(limit: float, *, unit: str) -> Scale:
    """Return the scale of something of which there should be no more than a limit."""
    return Scale(unit=unit, steps=((0.0, "green"), (limit, "red")))


def neutral(unit: str, *, high: float | None = None, low: float | None = 0.0) -> Scale:
    """Return the scale of something that is neither good nor bad."""
    return Scale(unit=unit, steps=((-1e9 if low is None else low, "blue"),), low=low, high=high)


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """One query of a panel.

    Args:
        expression: PromQL.
        legend: Name of each series.
    """

    expression: str
    legend: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A link from a value.

    Args:
        title, url: Of the link; the address may hold the value's labels.
    """

    title: str
    url: str


Kind = Literal["stat", "lines", "bars", "stacked", "gauge", "table"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """One panel.

    Args:
        title, description: What it shows, and how to read it.
        kind: How.
        queries: What it asks for.
        scale: How to read the values.
        width, height: Of 24 columns, and in rows.
        links: From a value.
        exemplars: Whether to show single traces as points.
    """

    title: str
    description: str
    kind: Kind
    queries: tuple[Query, ...]
    scale: Scale
    width: int = 12
    height: int = 8
    links: tuple[Link, ...] = ()
    exemplars: bool = False

    def build(self) -> Any:
        """Return the foundation SDK's builder of it."""
        made = _BUILDERS[self.kind]()
        made = made.title(self.title).description(self.description).span(self.width).height(self.height)
        made = made.datasource(METRICS).unit(self.scale.unit).thresholds(_thresholds(self.scale))
        made = made.no_value(NO_DATA).mappings([_missing()])
        if self.scale.low is not None:
            made = made.min(self.scale.low)
        if self.scale.high is not None:
            made = made.max(self.scale.high)
        if self.links:
            made = made.data_links([build.DashboardLink(link.title).url(link.url) for link in self.links])
        return made.targets([self._target(place, query) for place, query in enumerate(self.queries)])

    def _target(self, place: int, query: Query) -> prometheus.Dataquery:
        target = prometheus.Dataquery().expr(query.expression).ref_id(chr(ord("A") + place)).datasource(METRICS)
        target = target.legend_format(query.legend or "__auto")
        if self.exemplars:
            target = target.exemplar(True)
        if self.kind == "table":
            return target.instant().format(PromQueryFormat.TABLE)
        return target.instant() if self.kind in {"stat", "gauge"} else target.range()


METRICS = model.DataSourceRef(type_val="prometheus", uid="${metrics}")


def _thresholds(scale: Scale) -> build.ThresholdsConfig:
    steps = [model.Threshold(value=None, color=GREY)]
    steps += [model.Threshold(value=value, color=color) for value, color in scale.steps]
    return build.ThresholdsConfig().mode(model.ThresholdsMode.ABSOLUTE).steps(steps)


def _missing() -> model.SpecialValueMap:
    match = model.SpecialValueMatch.NULL_AND_NAN
    result = model.ValueMappingResult(text=NO_DATA, color=GREY)
    return model.SpecialValueMap(options=model.DashboardSpecialValueMapOptions(match=match, result=result))


def _by_threshold() -> build.FieldColor:
    return build.FieldColor().mode(model.FieldColorModeId.THRESHOLDS)


def _last() -> common_builders.ReduceDataOptions:
    return common_builders.ReduceDataOptions().calcs(["lastNotNull"])


def _stat() -> stat.Panel:
    made = stat.Panel().color_mode(common.BigValueColorMode.VALUE).graph_mode(common.BigValueGraphMode.NONE)
    return made.color_scheme(_by_threshold()).reduce_options(_last())


def _gauge() -> bargauge.Panel:
    made = bargauge.Panel().orientation(common.VizOrientation.HORIZONTAL)
    return made.display_mode(common.BarGaugeDisplayMode.BASIC).color_scheme(_by_threshold()).reduce_options(_last())


def _table() -> table.Panel:
    hidden = model.DataTransformerConfig(id_val="organize", options={"excludeByName": {"Time": True}})
    return table.Panel().color_scheme(_by_threshold()).with_transformation(hidden)


def _lines() -> timeseries.Panel:
    legend = common_builders.VizLegendOptions().display_mode(common.LegendDisplayMode.TABLE)
    legend = legend.placement(common.LegendPlacement.BOTTOM).calcs(["lastNotNull"]).show_legend(True)
    tooltip = common_builders.VizTooltipOptions().mode(common.TooltipDisplayMode.MULTI)
    style = common_builders.GraphThresholdsStyleConfig().mode(common.GraphThresholdsStyleMode.DASHED)
    made = timeseries.Panel().legend(legend).tooltip(tooltip.sort(common.SortOrder.DESCENDING))
    return made.thresholds_style(style).span_nulls(False).show_points(common.VisibilityMode.AUTO)


def _bars() -> timeseries.Panel:
    return _stacked().draw_style(common.GraphDrawStyle.BARS).fill_opacity(70)


def _stacked() -> timeseries.Panel:
    stacking = common_builders.StackingConfig().mode(common.StackingMode.NORMAL)
    return _lines().stacking(stacking).fill_opacity(40)


_BUILDERS: dict[Kind, Any] = {
    "stat": _stat,
    "lines": _lines,
    "bars": _bars,
    "stacked": _stacked,
    "gauge": _gauge,
    "table": _table,
}
