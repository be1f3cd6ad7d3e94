"""Telemetry names: written once, the same in OpenTelemetry and in Prometheus."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re

import pytest

from rop_otel import semconv
from rop_otel.spans.conventions.table import Convention, StageForm
from rop_otel.spans.conventions.translation import CONVENTIONS
from tests.contracts.sources import PACKAGE, parse, place, python_files, string_literals

NAME = re.compile(r"(rop|gen_ai)\.[a-z_.]+|ROP_OTEL_[A-Z_]+")
SERIES = re.compile("|".join(rf"\b{metric.prometheus}\b" for metric in semconv.METRICS))

# OpenTelemetry name, Prometheus name, kind, attributes beside the handoff's name.
TABLE = """
rop.handoff.verdicts      rop_handoff_verdicts_total       counter   rop.verdict rop.mode
rop.selected.misses       rop_selected_misses_total        counter   rop.dropped_at rop.drop.cause
rop.judged.misses         rop_judged_misses_total          counter   rop.dropped_at rop.drop.cause
rop.handoff.joint         rop_handoff_joint_total          counter   rop.joint rop.agreement
rop.stage.selected        rop_stage_selected_total         counter   rop.stage rop.present rop.round rop.query.form
rop.stage.score           rop_stage_score_total            counter   rop.stage rop.target rop.measure rop.k rop.round
rop.stage.scored          rop_stage_scored_total           counter   rop.stage rop.target rop.measure rop.k rop.round
rop.stage.returned        rop_stage_returned_total         counter   rop.stage
rop.stage.executions      rop_stage_executions_total       counter   rop.stage rop.stage.implementation rop.query.form
rop.source.shown          rop_source_shown_total           counter   rop.stage rop.only
rop.stage.duration        rop_stage_duration_seconds       histogram rop.stage
rop.findings              rop_findings_total               counter   rop.stage rop.finding rop.severity
rop.citations             rop_citations_total              counter   rop.outcome
rop.answers               rop_answers_total                counter   rop.outcome
rop.context.tokens        rop_context_tokens_total         counter
rop.context.budget        rop_context_budget_total         counter
rop.run.records           rop_run_records                  gauge     rop.run.id rop.verdict
rop.run.status            rop_run_status                   gauge     rop.run.id rop.status
rop.self.handoffs.open    rop_self_handoffs_open           gauge
rop.self.handoffs.expired rop_self_handoffs_expired_total  counter
rop.self.handoffs.rejected rop_self_handoffs_rejected_total counter
rop.self.spans.refused rop_self_spans_refused_total counter
rop.self.spans.late       rop_self_spans_late_total        counter
rop.self.spans.unsent     rop_self_spans_unsent_total      counter
rop.self.names.other      rop_self_names_other_total       counter
rop.self.errors           rop_self_errors_total            counter   rop.where
rop.self.assess.duration  rop_self_assess_duration_seconds histogram
"""
REGISTRY = ("attributes", "_incubating.attributes")
WITHOUT_HANDOFF = ("rop.run.", "rop.self.")


def written_names(tree: ast.Module) -> list[ast.Constant]:
    """Return the literals that are, or hold, a name that belongs into semconv."""
    return [node for node in string_literals(tree) if NAME.fullmatch(str(node.value)) or SERIES.search(str(node.value))]


def test_names_stand_in_semconv_only() -> None:
    """No attribute, metric, event or environment name is written outside semconv, in dashboards and rules neither."""
    files = [path for path in [*python_files("rop_otel"), *python_files("grafana")] if path != PACKAGE / "semconv.py"]
    assert [f"{place(path, node)} {node.value!r}" for path in files for node in written_names(parse(path))] == []


def names_of(convention: Convention) -> set[str]:
    """Return the names of attributes and events that a convention's table holds."""
    forms: list[StageForm | None] = [*convention.stages.values(), convention.event_stage]
    read = {name for form in forms if form for name in (*form.returned, *form.handed, form.implementation) if name}
    return {*convention.markers, *convention.events, *read}


def test_names_of_other_conventions_stand_there_too() -> None:
    """An attribute or event that another convention is read by is a name of semconv."""
    ours = {value for value in vars(semconv).values() if isinstance(value, str)}
    assert set().union(*map(names_of, CONVENTIONS)) - ours == set()


@pytest.mark.parametrize(
    "code",
    [
        "x = 'rop.stage'",
        "f(f'rop.stage.{kind}')",
        "def f(a='gen_ai.operation.name'): ...",
        "'rate(rop_findings_total[5m])'.x",
    ],
)
def test_a_written_name_is_seen(code: str) -> None:
    """A name is found in f-strings, defaults and queries too."""
    assert len(written_names(ast.parse(code))) == 1


def test_docstrings_may_speak_of_names() -> None:
    """A docstring that is a name is no use of it."""
    assert written_names(ast.parse("'rop.stage'\ndef f():\n    'rop.stage'\nA = 1\n'rop.stage'")) == []


def test_the_table_of_the_contract() -> None:
    """The metrics are exactly those of the contract, with their names in Prometheus, kinds and attributes."""
    expected = {}
    for row in TABLE.strip().splitlines():
        name, prometheus, kind, *attributes = row.split()
        handoff = [] if name.startswith(WITHOUT_HANDOFF) else [semconv.HANDOFF_NAME]
        expected[name] = (prometheus, kind, (*handoff, *attributes))
    assert {m.name: (m.prometheus, m.kind, m.attributes) for m in semconv.METRICS} == expected


@pytest.mark.parametrize("metric", semconv.METRICS, ids=lambda metric: metric.name)
def test_prometheus_names_follow_the_rule(metric: semconv.Metric) -> None:
    """Dots become underscores, seconds and totals are said at the end: what a collector would make of it."""
    unit = "_seconds" if metric.unit == "s" else ""
    total = "_total" if metric.kind == "counter" else ""
    assert metric.prometheus == metric.name.replace(".", "_") + unit + total


@pytest.mark.parametrize("metric", semconv.METRICS, ids=lambda metric: metric.name)
def test_metrics_describe_themselves(metric: semconv.Metric) -> None:
    """A metric says what it is in a sentence, and exactly the histograms have rising buckets."""
    assert metric.description.endswith(".")
    assert list(metric.buckets) == sorted(set(metric.buckets))
    assert bool(metric.buckets) == (metric.kind == "histogram")


def test_every_metric_is_listed() -> None:
    """A metric that the module defines is one that the exporters iterate over."""
    defined = {value.name for value in vars(semconv).values() if isinstance(value, semconv.Metric)}
    assert defined == {metric.name for metric in semconv.METRICS}


def test_names_are_unique() -> None:
    """No two constants stand for the same name."""
    values = [
        value for key, value in vars(semconv).items() if key.isupper() and isinstance(value, str) and "." in value
    ]
    assert sorted(values) == sorted(set(values))


def of_the_registry() -> dict[str, str]:
    """Return the attributes of OpenTelemetry's package of semantic conventions, by the names of its constants."""
    packages = [importlib.import_module(f"opentelemetry.semconv.{name}") for name in REGISTRY]
    modules = [
        importlib.import_module(f"{package.__name__}.{found.name}")
        for package in packages
        for found in pkgutil.iter_modules(package.__path__)
    ]
    return {
        constant: value
        for module in modules
        for constant, value in vars(module).items()
        if constant.isupper() and isinstance(value, str)
    }


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_moved_names_agree_with_the_registry() -> None:
    """A GenAI name of ours is spelled as the registry spells it, where the registry has it."""
    registry = of_the_registry()
    ours = [value for value in vars(semconv).values() if isinstance(value, str) and value.startswith("gen_ai.")]
    constants = {value.replace(".", "_").upper(): value for value in ours}
    known = {constant: value for constant, value in constants.items() if constant in registry}
    assert known
    assert {constant: registry[constant] for constant in known} == known


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_our_names_are_not_in_the_registry() -> None:
    """No attribute of ours has a name that OpenTelemetry's registry gives to something."""
    taken = set(of_the_registry().values())
    ours = {value for name, value in vars(semconv).items() if isinstance(value, str) and value.startswith(semconv.OURS)}
    assert len(ours) > 30
    assert ours & taken == set()
    assert not [name for name in taken if name.startswith(semconv.OURS)]
