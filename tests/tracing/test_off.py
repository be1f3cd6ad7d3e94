from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator

import pytest

import rop_otel as rop
from rop_otel import semconv
from rop_otel.tracing.running import runtime
from rop_otel.tracing.stages.noop_stage import NOOP_STAGE
from tests.tracing.watched import Watched


@rop.stage("vector", input_arg=lambda *_: 1 / 0)
def search(question: str) -> list[object]:
    return [object()]


@rop.stage("vector")
async def search_async(question: str) -> list[object]:
    return [object()]


@rop.stage("vector")
def search_yielding(question: str) -> Iterator[str]:
    yield "a"


@rop.stage("vector")
async def search_yielding_async(question: str) -> AsyncIterator[str]:
    yield "a"


async def run() -> rop.Handoff:
    with rop.handoff("qa", cutoff=0) as handoff:
        handoff.select(None)
        search("q")
        await search_async("q")
        assert list(search_yielding("q")) == ["a"]
        assert [raw async for raw in search_yielding_async("q")] == ["a"]
        with rop.using_round(1), rop.using_stage("", input=object()) as stage:
            stage.input(object())
            stage.implementation("x")
            stage.query_form("y")
            stage.returned(object(), labels=3)  # type: ignore[arg-type] # nobody looks
            assert (stage.trace_id, stage.span_id) == ("", "")
        handoff.answered("text", sources=object())
    return handoff


async def test_off_does_nothing(watch: Callable[..., Watched]) -> None:
    """Switched off, nothing is recorded, counted or raised, also where everything is used wrongly in strict mode."""
    watched = watch(enabled=False, strict=True)
    handoff = await run()
    assert str(handoff.assessment) == "qa: not assessed, monitoring is off"
    assert watched.spans == []
    assert watched.heard.notices == {}
    assert watched.runtime.ledger.open_count() == 0


async def test_a_handoff_that_streams_on_does_nothing(watch: Callable[..., Watched]) -> None:
    """Switched off, a handoff that is started and closed by hand does nothing either."""
    watched = watch(enabled=False)
    started = rop.start_handoff("qa", selected="a")
    async with started:
        await search_async("q")
    assert (started.id, started.trace_id) == ("", "")
    assert str(started.close()) == "qa: not assessed, monitoring is off"
    assert watched.runtime.ledger.open_count() == 0


async def test_environment_switches_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without any configuration the environment decides."""
    monkeypatch.setenv(semconv.ENV_DISABLED, "true")
    runtime.install(None)
    assert str((await run()).assessment) == "qa: not assessed, monitoring is off"


def test_unconfigured_assesses_without_sinks() -> None:
    """Decorators work before, and without, any configuration."""
    runtime.install(None)
    with rop.handoff("qa", selected="a") as handoff, rop.using_stage("packing") as stage:
        stage.returned(["a"])
    assert handoff.assessment.verdict is rop.Verdict.PASS


def test_environment_that_cannot_be_used_is_said_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A setting that only ``configure()`` could raise on is logged, and the defaults are used."""
    monkeypatch.setenv(semconv.ENV_MAX_IDS, "many")
    runtime.install(None)
    with rop.handoff("qa") as handoff:
        pass
    assert handoff.assessment.verdict is rop.Verdict.NOT_APPLICABLE
    assert len(caplog.messages) == 1
    assert "a setting cannot be used" in caplog.messages[0]


def test_environment_that_cannot_be_used_shows_no_ids(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another variable that is wrong switches neither hashing off, nor monitoring on."""
    monkeypatch.setenv(semconv.ENV_MAX_IDS, "many")
    monkeypatch.setenv(semconv.ENV_HASH_KEY, "secret")
    runtime.install(None)
    assert (runtime.current().config.hash_key, runtime.current().enabled) == (b"secret", True)
    monkeypatch.setenv(semconv.ENV_DISABLED, "true")
    runtime.install(None)
    assert not runtime.current().enabled
    monkeypatch.setenv(semconv.ENV_DISABLED, "many")
    runtime.install(None)
    assert (runtime.current().config.hash_key, runtime.current().enabled) == (b"secret", True)


@pytest.mark.parametrize("silent", [rop.current_handoff(), NOOP_STAGE], ids=["handoff", "stage"])
def test_the_silent_twins_have_all_that_users_reach_for(silent: object) -> None:
    """Every public attribute of a handoff and of a stage can be read on its silent twin."""
    for name in dir(type(silent)):
        if not name.startswith("_"):
            getattr(silent, name)


def test_twins_offer_what_the_live_ones_do(watched: Watched) -> None:
    """A handoff and a stage are such whether they are monitored or not."""
    with rop.handoff("qa") as handoff, rop.using_stage("vector") as stage:
        stage.returned(["a"])
        live = handoff, stage
    for each, twin in zip(live, (rop.current_handoff(), rop.current_handoff().running_stage), strict=True):
        kind = rop.Handoff if each is handoff else rop.Stage
        assert isinstance(each, kind)
        assert isinstance(twin, kind)
        assert type(each) is not type(twin)
