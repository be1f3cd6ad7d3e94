"""What the instrumentation packages keep of a call, used by a signal handler in the middle of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from rop_otel.config import Config
from rop_otel.instrumenting import Settings, topmost
from rop_otel.tracing.running import runtime
from rop_otel.tracing.running.runtime import Runtime
from tests.export.monitored import Heard
from tests.safety.interrupting import Interruption, in_time, places


@pytest.fixture(autouse=True)
def heard() -> Iterator[Heard]:
    """Install a runtime whose sink keeps everything."""
    heard = Heard()
    before = runtime.install(Runtime(Config(), sinks=(heard,)))
    yield heard
    runtime.install(before)


def block() -> topmost:
    return topmost(Settings(), name="chain")


def everywhere(
    make: Callable[[], Any],
    work: Callable[[Any], object],
    nested: Callable[[Any], object],
    check: Callable[[Any], None],
) -> None:
    """Interrupt the work on a new object at each place."""

    def all_places() -> None:
        for place in places():
            subject = make()
            interruption = Interruption(place, lambda: nested(subject))  # noqa: B023 - it is called in this round
            interruption.during(lambda: work(subject))  # noqa: B023
            check(subject)
            if not interruption.happened:
                return

    in_time(all_places)


def test_haystacks_agent_has_one_handoff() -> None:
    """Whoever calls a tool first, a run of an agent has one handoff for all of its tools."""
    agents = pytest.importorskip("rop_otel_haystack.agents")

    def call(run: Any) -> None:
        found.append(run.handoff())

    def check(run: Any) -> None:
        assert {id(each) for each in found} == {id(run.handoff())}
        found.clear()

    found: list[Any] = []
    everywhere(lambda: agents.AgentRun(block(), None, None, {}), call, call, check)


def test_haystacks_methods_are_replaced_once() -> None:
    """A component whose class is met for the first time in both is watched once, and put back as it was."""
    patching = pytest.importorskip("rop_otel_haystack.patching")

    def make() -> Any:
        class Component:
            def run(self) -> dict[str, Any]:
                return {}

        return SimpleNamespace(patches=patching.HaystackPatches(Settings()), cls=Component, original=Component.run)

    def watch(made: Any) -> None:
        made.patches._classes([made.cls])

    def check(made: Any) -> None:
        assert made.cls.run.__wrapped__ is made.original
        made.patches.undo()
        assert made.cls.run is made.original

    everywhere(make, watch, watch, check)


def test_llama_indexs_workflow_is_one_call(heard: Heard) -> None:
    """A run of a workflow in which a handler retrieves, too, is one call with one handoff."""
    workflows = pytest.importorskip("rop_otel_llama_index.workflows")

    def retrieve(run: Any) -> None:
        run.start()
        run.place()
        found.append(run.call)

    def check(run: Any) -> None:
        assert {id(each) for each in found} == {id(run.call)}
        run.end()
        run.__exit__(None, None, None)
        assert len(heard.assessments) == 1
        heard.assessments.clear()
        found.clear()

    found: list[Any] = []
    everywhere(lambda: workflows.WorkflowRun(object(), block(), Settings()), retrieve, retrieve, check)


def test_langchains_trail_keeps_all_documents() -> None:
    """Documents that a handler retrieves in the middle of another retrieval are known as those are."""
    trails = pytest.importorskip("rop_otel_langchain.trail")
    documents = pytest.importorskip("langchain_core.documents")
    first, second = (documents.Document(id=name, page_content=f"text {name}") for name in ("a", "b"))

    def check(trail: Any) -> None:
        known = [each.id for alike in trail._live.values() for each in alike]
        assert sorted(known) in (["a"], ["a", "b"])
        assert len(known) == 1 + len(nested)
        nested.clear()

    def retrieve(trail: Any) -> None:
        trail.moved([], [first])

    def also(trail: Any) -> None:
        nested.append("b")
        trail.moved([], [second])

    nested: list[str] = []
    everywhere(trails.Trail, retrieve, also, check)
