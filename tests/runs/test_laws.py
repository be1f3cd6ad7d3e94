"""One run through every door: live, its journal evaluated, its exported spans replayed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import rop_otel as rop
from rop_otel.core.profile.population import write_population
from rop_otel.core.profile.sealing import DECLARATION_FILE, seal
from rop_otel.replay import replay_files
from rop_otel.tracing.running import runtime
from tests.core.profile.declared import DECISIONS
from tests.replay.test_doors import PIPELINES, RESOLVER, Exported, run_pipeline
from tests.runs.audit import evaluated

DECLARATIONS = st.fixed_dictionaries(
    {
        "mode": st.sampled_from(["hard", "hard", "hard", "soft"]),
        "cutoff": st.integers(1, 3),
        "rule": st.sampled_from(["any", "all"]),
        "selection_field": st.sampled_from(["selected", "selector.key", "selector.deep.key"]),
        "output_field": st.sampled_from(["ids", "results[].id", "results[].doc.id", "out.ids[]"]),
        "record_field": st.sampled_from(["record_id", "meta.id"]),
        "trace_field": st.sampled_from([None, "gold", "gold.ids[]", "meta.gold", "golds[].id", "selected"]),
        "depth": st.sampled_from([None, 3, 5]),
    }
)
PLAIN_STAGES = st.builds(
    lambda kind, ids: {
        "kind": kind,
        "name": None,
        "round": None,
        "input": None,
        "returned": (ids, {}),
        "fails": False,
        "within": [],
    },
    st.sampled_from(["vector", "packing"]),
    st.lists(st.sampled_from(["a", "b", "c", "alpha", "x"]), max_size=4),
)
PLAIN = st.fixed_dictionaries(
    {
        "handoff": st.fixed_dictionaries(
            {"record_id": st.sampled_from(["r1", "r2", "r3"])},
            optional={"judged": st.sampled_from([["a"], ["C", "alpha"], {"b": 1, "a": 0}, ["nothing"], []])},
        ),
        "selected": st.sampled_from(["a", "A", "alpha", "c", ["c", "a"], ["A"], ["a", "nothing"]]),
        "stages": st.lists(PLAIN_STAGES, min_size=1, max_size=2),
        "answer": st.none(),
        "sources": st.none(),
    }
)
"""Handoffs with nothing wrong, so that many runs are judged by their ranks."""

OPEN = ("cutoff", "rule", "mode")
"""What a handoff may leave to the declaration."""


def write_folder(folder: Path, decided: Mapping[str, Any], population: list[str]) -> Path:
    found = seal(
        replace(DECISIONS, **decided),
        resolver=RESOLVER,
        resolver_file=("resolver.json", RESOLVER.to_bytes()),
        population=write_population(population),
    )
    for name, data in found.items():
        (folder / name).write_bytes(data)
    return folder / DECLARATION_FILE


def comparable(report: dict[str, Any], *, place: bool = True) -> str:
    """Return a report as text, without what two doors must call by different names."""
    if not place:
        malformed = [each["reason"] for each in report["malformed_observations"]]
        report = {**report, "malformed_observations": malformed, "inputs": []}
    return json.dumps(report)


@pytest.mark.filterwarnings("ignore")
@given(
    decided=DECLARATIONS,
    population=st.lists(st.sampled_from(["r1", "r2", "r3"]), min_size=1, unique=True),
    pipelines=st.lists(PLAIN, min_size=1, max_size=4) | st.lists(PLAIN | PIPELINES, max_size=4),
    own_terms=st.booleans(),
    max_ids=st.sampled_from([1, 2, 1000]),
    stop=st.integers(0, 4),
)
def test_every_door_gives_one_report(
    tmp_path_factory: pytest.TempPathFactory,
    decided: dict[str, Any],
    population: list[str],
    pipelines: list[dict[str, Any]],
    own_terms: bool,
    max_ids: int,
    stop: int,
) -> None:
    """Live, stopped and resumed, offline and replayed: one report, and each handoff has the verdict of its record."""
    folder = tmp_path_factory.mktemp("doors")
    declaration, journal = write_folder(folder, decided, population), folder / "journal.jsonl"
    exported = Exported(None, max_ids=max_ids)
    runtime.install(exported.runtime)
    live: list[rop.Assessment] = []
    for part in (pipelines[:stop], pipelines[stop:]):
        with rop.run("nightly", declaration=declaration, journal=journal) as run:
            for pipeline in part:
                told = {name: told for name, told in pipeline["handoff"].items() if own_terms or name not in OPEN}
                live.append(run_pipeline({**pipeline, "handoff": told}))
    report = run.close()
    assert report.incomplete == ()
    exported.write(folder / "traces.json")
    replayed = replay_files([str(folder / "traces.json")], declaration=str(declaration))
    assert replayed.run is not None
    assert comparable(replayed.run.as_dict(), place=False) == comparable(report.as_dict(), place=False)
    assert [json.dumps(each.as_dict()) for each in replayed.assessments] == [json.dumps(e.as_dict()) for e in live]
    if not report.run.verdicts["DECLARATION_INVALID"]:
        assert report.to_bytes() == evaluated(declaration, journal)
    else:
        offline = json.loads(evaluated(declaration, journal))
        assert decided["mode"] == "soft" or offline["run_status"] == report.status == "RUN_INVALID"
    assert sorted((entry.record_id, str(entry.verdict)) for entry in report.entries) == sorted(
        (assessment.record_id, str(assessment.verdict)) for assessment in live if assessment.record_id
    )


def test_a_passing_run_through_every_door(tmp_path: Path) -> None:
    """The doors agree on a PASS, too, with lists that are cut past the cutoff."""
    declaration = write_folder(tmp_path, {"cutoff": 2}, ["r1", "r2"])
    exported = Exported(None, max_ids=2)
    runtime.install(exported.runtime)
    with rop.run("nightly", declaration=declaration, journal=tmp_path / "j") as run:
        for name in ("r1", "r2"):
            with rop.handoff("qa", record_id=name, selected="A"), rop.using_stage("packing") as stage:
                stage.returned(["x", "b", "c"])
    exported.write(tmp_path / "traces.json")
    replayed = replay_files([str(tmp_path / "traces.json")], declaration=str(declaration))
    assert replayed.run is not None
    assert comparable(replayed.run.as_dict(), place=False) == comparable(run.close().as_dict(), place=False)
    assert run.close().status == "RUN_PASS"
    assert run.close().to_bytes() == evaluated(declaration, tmp_path / "j")


def test_a_selection_is_no_record_id(tmp_path: Path) -> None:
    """Where both are read at one place, a handoff without a record ID is malformed through every door."""
    declaration = write_folder(tmp_path, {"selection_field": "record_id"}, ["A", "C"])
    exported = Exported(None)
    runtime.install(exported.runtime)
    with (
        rop.run("nightly", declaration=declaration, journal=tmp_path / "j") as run,
        rop.handoff("qa", selected="A"),
        rop.using_stage("packing") as stage,
    ):
        stage.returned(["a"])
    exported.write(tmp_path / "traces.json")
    replayed = replay_files([str(tmp_path / "traces.json")], declaration=str(declaration))
    assert replayed.run is not None
    assert comparable(replayed.run.as_dict(), place=False) == comparable(run.close().as_dict(), place=False)
    [malformed] = run.close().as_dict()["malformed_observations"]
    assert malformed["reason"] == "the record ID at 'record_id' is missing"
    assert run.close().to_bytes() == evaluated(declaration, tmp_path / "j")
