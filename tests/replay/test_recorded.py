"""Traces that other people recorded, read without a setting."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from rop_otel.cli.main import app
from rop_otel.replay import replay_files

RAG = "traces/openinference_llamaindex_rag/otlp.jsonl.gz"


def as_recorded(file: Path) -> dict[str, dict[str, list[str]]]:
    """Return for each trace what its spans hold, by what stands before each document's place: read apart from ours."""
    found: dict[str, dict[int, str]]
    traces: dict[str, dict[str, list[str]]] = {}
    for line in gzip.decompress(file.read_bytes()).splitlines():
        for part in json.loads(line)["resourceSpans"]:
            for span in (span for scope in part["scopeSpans"] for span in scope["spans"]):
                found = {}
                for pair in span["attributes"]:
                    name = pair["key"].split(".")
                    if name[-2:] == ["document", "id"]:
                        found.setdefault(".".join(name[:2]), {})[int(name[2])] = pair["value"]["stringValue"]
                lists = traces.setdefault(span["traceId"], {})
                lists.update({name: [ids[place] for place in sorted(ids)] for name, ids in found.items()})
    return traces


def report_on(file: Path) -> dict[str, Any]:
    result = CliRunner().invoke(app, ["replay", str(file), "--format", "json"])
    assert result.exit_code == 0
    report: dict[str, Any] = json.loads(result.stdout)
    return report


def test_every_document_is_accounted_for(shared_data: Path) -> None:
    """Of 41 traces the 38 that retrieve are handoffs; each retrieved document is dropped or shown, once."""
    recorded = as_recorded(shared_data / RAG)
    report = report_on(shared_data / RAG)
    assert (len(recorded), len(report["handoffs"]), report["orphan_stages"]) == (41, 38, 0)
    assert {each["trace_id"] for each in report["handoffs"]} == {trace for trace, lists in recorded.items() if lists}
    for found in report["handoffs"]:
        lists = recorded[found["trace_id"]]
        assert [(each["stage"], each["returned"]) for each in found["stages"]] == [
            ("retriever", len(lists["retrieval.documents"])),
            ("rerank", len(lists["reranker.output_documents"])),
        ]
        assert found["shown"]["ids"] == lists["reranker.output_documents"]
        dropped = found["stages"][1]["dropped"]
        assert len(dropped) == 3
        assert sorted(dropped + found["shown"]["ids"]) == sorted(lists["retrieval.documents"])
        assert (found["handoff_name"], found["verdict"], found["findings"]) == (
            "BaseQueryEngine.query",
            "NOT_APPLICABLE",
            [],
        )


def test_the_report_says_what_the_reranker_dropped(shared_data: Path) -> None:
    """In words too: a line for each of the queries, with the documents that were dropped."""
    result = CliRunner().invoke(app, ["replay", str(shared_data / RAG)])
    lines = [line for line in result.stdout.splitlines() if "dropped at rerank/CohereRerank" in line]
    assert len(lines) == 38
    assert all(line.count(", ") == 2 for line in lines)


def test_examples_of_others(shared_data: Path) -> None:
    """Requests of other projects, one with IDs in base64, are read, and hold no retrieval."""
    files = sorted((shared_data / "traces" / "otlp_examples").glob("*.json"))
    assert len(files) == 6
    for file in files:
        report = replay_files([str(file)])
        assert (report.assessments, report.orphan_stages) == ((), 0)
