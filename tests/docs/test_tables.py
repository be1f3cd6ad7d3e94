"""What the documents say in tables is what the code does."""

from __future__ import annotations

import inspect
import re
from dataclasses import fields

import pytest

import rop_otel as rop
from rop_otel import instrumenting, semconv, testing
from rop_otel.config import Config
from rop_otel.core.handoff import FINDINGS, DropCause, Verdict, kinds
from rop_otel.core.handoff.advice import CAUSES, FINDING_WORDS
from rop_otel.reference.faults import FAULTS
from tests.contracts.signatures import parameters
from tests.docs import costs
from tests.docs.tables import CODE, code, read, table

NO_VARIABLE = "–"
LINK = re.compile(r"\[([^\]]+)\]\([^)]+\)")
PROMQL = re.compile(r"```promql\n(.*?)```", re.DOTALL)
SERIES_OR_LABEL = re.compile(r"\brop_\w+")
SUFFIXES = {"counter": ("",), "gauge": ("",), "histogram": ("_bucket", "_sum", "_count")}


def test_readme_lists_the_faults() -> None:
    """Each fault of the demo stands in the README with its finding, cause and stage, in order."""
    rows = [[code(cell) for cell in row] for row in table(read("README.md"), "fault")]
    assert rows == [
        [fault.name, fault.description, fault.finding.value, fault.cause.value if fault.cause else "–", fault.stage]
        for fault in FAULTS.values()
    ]


def plain(cell: str) -> str:
    """Return a cell without links and marks of code."""
    return LINK.sub(r"\1", cell).replace("`", "")


def test_readme_explains_every_cause() -> None:
    """Each cause of a loss is explained once, with what to try, in the words of the page."""
    rows = {code(row[0]): tuple(map(plain, row[1:])) for row in table(read("README.md"), "cause")}
    assert rows == {cause.value: tuple(CAUSES[cause]) for cause in DropCause}


def test_readme_explains_every_finding() -> None:
    """Each finding is explained once, with its severity and what to try, in the words of the page."""
    rows = {code(row[0]): tuple(map(plain, row[1:])) for row in table(read("README.md"), "finding")}
    assert rows == {each.value: (each.severity.value, *FINDING_WORDS[each]) for each in FINDINGS}


def test_runbook_says_what_to_try_for_every_cause() -> None:
    """The alert about lost objects gives each cause the words of the page."""
    section = read("grafana/runbook.md").partition("## SelectedObjectDropsBeforeReader")[2].partition("\n## ")[0]
    assert [line for line in section.splitlines() if line.startswith("- `")] == [
        f"- `{cause.value}`: {' '.join(CAUSES[cause])}" for cause in DropCause
    ]


def test_readme_quotes_the_benchmarks() -> None:
    """The figures of cost are those of the last ``make bench``."""
    assert costs.quoted(read("README.md")) == costs.render(costs.measured())


def test_concepts_explain_every_verdict() -> None:
    """The verdicts stand in the order in which they are decided."""
    order = [code(row[0]) for row in table(read("docs/concepts.md"), "verdict")]
    assert sorted(order) == sorted(verdict.value for verdict in Verdict)
    assert order[-2:] == ["PASS", "FAIL"]


def test_concepts_name_every_kind() -> None:
    """The table of kinds has each kind once and tells which may add documents."""
    rows = table(read("docs/concepts.md"), "kind")
    named = [kind for row in rows for kind in CODE.findall(row[0])]
    keeping = [kind for row in rows if row[2] == "no" for kind in CODE.findall(row[0])]
    sources = [kind for row in rows if "sources" in row[1] for kind in CODE.findall(row[0])]
    assert sorted(named) == sorted(kinds.KINDS)
    assert sorted(keeping) == sorted(kinds.KEEPING_ONLY)
    assert sorted(sources) == sorted(kinds.SOURCES)


def test_settings_are_complete() -> None:
    """Each setting stands in the table with its default, in the order of the configuration."""
    rows = table(read("docs/settings.md"), "argument")
    assert [(code(row[0]), code(row[2])) for row in rows] == [
        (each.name, repr(each.default)) for each in fields(Config)
    ]


def test_configure_takes_the_settings_and_providers() -> None:
    """Nothing that ``configure`` takes is left out of the document."""
    settings = [each.name for each in fields(Config)]
    providers = ["tracer_provider", "meter_provider", "logger_provider"]
    assert sorted(parameters(rop.configure)) == sorted([*settings, *providers])
    assert all(f"`{name}`" in read("docs/settings.md") for name in providers)


ACCEPTED = {
    "enabled": ("true", False),
    "service_name": ("docs", "docs"),
    "metrics_host": ("0.0.0.0", "0.0.0.0"),
    "metrics_port": ("9", 9),
    "assess": ("monitor", "monitor"),
    "strict": ("yes", True),
    "hash_key": ("k", b"k"),
    "max_ids": ("7", 7),
    "max_id_length": ("300", 300),
    "max_id_words": ("7", 7),
    "id_line_breaks": ("true", True),
    "capture_text": ("true", True),
    "max_open": ("7", 7),
    "ttl_seconds": ("7", 7.0),
    "baggage_hosts": ("search, .svc.example", ("search", ".svc.example")),
    "openinference": ("on", True),
    "id_keys": ("doc_id, source", ("doc_id", "source")),
    "foreign_stages": ("BM25*=lexical, *Rerank*=rerank", (("BM25*", "lexical"), ("*Rerank*", "rerank"))),
    "foreign_handoffs": ("*.query, ask", ("*.query", "ask")),
    "foreign_selected": ("app.page", "app.page"),
    "foreign_labels": ("app.labels", "app.labels"),
}
"""Setting to a value of its variable and what that gives."""


@pytest.mark.parametrize(("name", "value"), ACCEPTED.items())
def test_variables_set_what_the_table_says(name: str, value: tuple[str, object]) -> None:
    """The variable in a setting's row sets it."""
    variable = next(code(row[1]) for row in table(read("docs/settings.md"), "argument") if code(row[0]) == name)
    given, expected = value
    assert getattr(Config.resolve(environ={variable: given}), name) == expected


def test_variables_are_complete() -> None:
    """Each variable of this project stands in the table, and each one there exists."""
    known = {value for key, value in vars(semconv).items() if key.startswith("ENV_")} | {
        "OTEL_SERVICE_NAME",
        "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT",
    }
    cells = [row[1] for heading in ("argument", "setting") for row in table(read("docs/settings.md"), heading)]
    assert {code(cell) for cell in cells if cell != NO_VARIABLE} == known
    with_variable = {code(row[0]) for row in table(read("docs/settings.md"), "argument") if row[1] != NO_VARIABLE}
    assert with_variable == {*ACCEPTED, "resolver"}


INSTRUMENTED = {
    "handoff": ("docs-qa", "docs-qa"),
    "cutoff": ("5", 5),
    "selected_key": ("page", "page"),
    "id_keys": ("doc_id, source", ("doc_id", "source")),
    "stages": ("Cut=candidates, Router=", {"Cut": "candidates", "Router": None}),
}
"""Setting of the instrumentation packages to a value of its variable and what that gives."""


def test_settings_of_instrumentations_are_complete() -> None:
    """Each setting of the instrumentation packages stands in their table with its default, in order."""
    rows = table(read("docs/settings.md"), "setting")
    assert [(code(row[0]), code(row[2])) for row in rows] == [
        (each.name, repr(getattr(instrumenting.Settings(), each.name))) for each in fields(instrumenting.Settings)
    ]
    variables = {code(row[0]): code(row[1]) for row in rows}
    for name, (given, expected) in INSTRUMENTED.items():
        assert getattr(instrumenting.Settings.resolve(environ={variables[name]: given}), name) == expected
    assert instrumenting.Settings.resolve(environ={variables["selected_by"]: "main:selector"}).selected_by is not None


def test_the_monitor_watches_itself_completely() -> None:
    """Each series about the monitor itself is explained."""
    rows = table(read("docs/settings.md"), "series")
    own = [metric.prometheus for metric in semconv.METRICS if metric.name.startswith("rop.self.")]
    assert [code(row[0]) for row in rows] == own


def test_arguments_of_stage_and_handoff_are_complete() -> None:
    """Each argument of a stage and of a handoff has its row, in order."""
    document = read("docs/decorating.md")
    stages, _, handoffs = document.partition("## Handoffs")
    assert [code(row[0]) for row in table(stages, "argument")] == parameters(rop.stage)
    assert [code(row[0]) for row in table(handoffs, "argument")] == parameters(rop.handoff)
    assert parameters(rop.start_handoff) == parameters(rop.handoff)
    assert set(parameters(rop.using_stage)) - {"input"} == set(parameters(rop.stage)) - {"input_arg", "top_k_arg"}


def test_arguments_of_run_are_complete() -> None:
    """Each argument of a run has its row, in order."""
    assert [code(row[0]) for row in table(read("docs/live-runs.md"), "argument")] == parameters(rop.run)


def test_methods_are_complete() -> None:
    """Each method of a stage and each member of a handoff has its row, with all its arguments."""
    document = read("docs/decorating.md")
    methods = {code(row[0]).partition("(")[0]: code(row[0]) for row in table(document, "method")}
    public = {name for name, value in vars(rop.Stage).items() if inspect.isfunction(value) and name[0] != "_"}
    assert set(methods) == public - {"unfinished"}
    for name, written in methods.items():
        assert re.findall(r"\w+", written.partition("(")[2]) == parameters(getattr(rop.Stage, name))
    members = {part.partition("(")[0] for row in table(document, "member") for part in CODE.findall(row[0])}
    assert members == {name for name in vars(rop.Handoff) if name[0] != "_"} | {"id", "trace_id"}


def test_helpers_for_tests_are_complete() -> None:
    """Each public name for users' own tests has its row."""
    rows = table(read("docs/testing.md"), "name")
    assert sorted(code(row[0]).removesuffix("()") for row in rows) == sorted(testing.__all__)
    assert all(f"`{name}=`" in read("docs/testing.md") for name in parameters(testing.capture) if name != "strict")


def test_metrics_are_complete() -> None:
    """Each metric that is exported has its row: both names, kind, labels and description."""
    rows = [
        [row[0], row[1], row[2], CODE.findall(row[3]), row[4]]
        for row in table(read("docs/metrics.md"), "OpenTelemetry name")
    ]
    assert rows == [
        [
            f"`{metric.name}`",
            f"`{metric.prometheus}`",
            metric.kind,
            [semconv.label(each) for each in metric.attributes if each != semconv.HANDOFF_NAME],
            metric.description,
        ]
        for metric in semconv.METRICS
    ]


def test_queries_use_names_that_exist() -> None:
    """Each query reads exported series, and only labels that those have."""
    labels = {f"{m.prometheus}{end}": m.attributes for m in semconv.METRICS for end in SUFFIXES[m.kind]}
    queries = PROMQL.findall(read("docs/metrics.md"))
    assert len(queries) > 5
    for query in queries:
        names = set(SERIES_OR_LABEL.findall(query))
        series = names & set(labels)
        assert series
        for read_series in series:
            assert names - set(labels) <= {semconv.label(each) for each in labels[read_series]}, query
