"""The instrumentor on and off, beside others, and on versions that it does not know."""

from __future__ import annotations

import functools
import logging
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, entry_points
from typing import Any

import haystack
import pytest
import rop_otel_haystack.instrumentor as module
from haystack import Pipeline
from haystack.components.rankers import LostInTheMiddleRanker
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
from rop_otel_haystack import HaystackInstrumentor

from rop_otel.errors import ConfigurationError

METHODS = [
    (cls, name)
    for cls in (Pipeline, getattr(haystack, "AsyncPipeline", Pipeline), InMemoryBM25Retriever, LostInTheMiddleRanker)
    for name in ("run", "run_async", "run_async_generator")
]


def methods() -> list[Any]:
    """Return the methods as they are."""
    return [vars(cls).get(name) for cls, name in METHODS]


def test_uninstrumenting_restores_everything(selecting: Any, parts: Any) -> None:
    """Every method is the very object that it was before."""
    before = methods()
    watch = selecting("timeouts")
    parts.build().run(parts.question())
    assert methods() != before
    HaystackInstrumentor().uninstrument()
    assert methods() == before
    parts.build().run(parts.question())
    assert len(watch.all) == 1


def test_instrumenting_twice_counts_once(selecting: Any, parts: Any) -> None:
    """A second call changes nothing."""
    watch = selecting("timeouts")
    HaystackInstrumentor().instrument()
    parts.build().run(parts.question())
    assert [stage.stage for stage in watch.only.stages].count("lexical") == 1


@pytest.mark.parametrize("cls", [Pipeline, InMemoryBM25Retriever])
def test_what_another_wrapped_stays_theirs(selecting: Any, parts: Any, cls: Any) -> None:
    """A method that others wrapped is not taken from them, does nothing of ours, and counts once when we come back."""
    watch = selecting("timeouts")
    parts.build().run(parts.question())
    ours = cls.run

    @functools.wraps(ours)
    def theirs(self: Any, *args: Any, **kwargs: Any) -> Any:
        return ours(self, *args, **kwargs)

    cls.run = theirs
    try:
        HaystackInstrumentor().uninstrument()
        assert cls.run is theirs
        parts.build().run(parts.question())
        assert len(watch.all) == 1
        watch.instrument(selected_by=lambda inputs: "timeouts")
        parts.build().run(parts.question())
        assert len(watch.all) == 2
        assert [stage.stage for stage in watch.all[-1].stages].count("lexical") == 1
        HaystackInstrumentor().uninstrument()
    finally:
        cls.run = ours.__wrapped__


@pytest.mark.parametrize("version", ["2.17.1", "4.0.0"])
def test_other_versions_are_warned_of_and_left_alone(
    watch: Any, version: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A version outside the range is one warning that names it, and no instrumentation."""
    before = methods()
    monkeypatch.setattr("rop_otel.instrumenting.notices._warned", set())
    monkeypatch.setattr("importlib.metadata.version", lambda package: version)
    for _ in range(2):
        with caplog.at_level(logging.WARNING):
            HaystackInstrumentor().instrument()
        assert methods() == before
        HaystackInstrumentor().uninstrument()
    messages = [record.getMessage() for record in caplog.records if record.name == "rop_otel"]
    assert messages == [f"haystack-ai {version} is installed and is not watched: versions {module.VERSIONS} are"]


def test_without_haystack_it_warns_and_does_nothing(
    watch: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Where Haystack is not installed, that is said, and nothing raises."""

    def missing(package: str) -> str:
        raise PackageNotFoundError(package)

    monkeypatch.setattr("rop_otel.instrumenting.notices._warned", set())
    monkeypatch.setattr("importlib.metadata.version", missing)
    before = methods()
    HaystackInstrumentor().instrument()
    assert methods() == before
    assert "haystack-ai is not installed" in caplog.text


def test_a_wrong_setting_is_refused(watch: Any) -> None:
    """What is no setting raises where the instrumentor is called."""
    with pytest.raises(ConfigurationError, match="no_such"):
        HaystackInstrumentor().instrument(no_such=1)


def test_the_entry_point_leads_here() -> None:
    """``opentelemetry-instrument`` finds the instrumentor."""
    (found,) = entry_points(group="opentelemetry_instrumentor", name="rop-haystack")
    assert found.load() is HaystackInstrumentor


def test_haystack_is_not_imported_before_the_application_does() -> None:
    """Haystack reads at its import whether it may send telemetry, so an early import would be one too early."""
    program = (
        "import sys\n"
        "from rop_otel_haystack import HaystackInstrumentor\n"
        "HaystackInstrumentor().instrument()\n"
        "assert 'haystack' not in sys.modules\n"
        "from rop_otel.tracing.running.runtime import current\n"
        "assert current().sinks\n"
        "import haystack\n"
        "assert hasattr(haystack.Pipeline.run, '__wrapped__')\n"
        "HaystackInstrumentor().uninstrument()\n"
        "HaystackInstrumentor().instrument()\n"
        "HaystackInstrumentor().uninstrument()\n"
        "assert 'rop_otel' not in haystack.Pipeline.run.__code__.co_filename\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_uninstrumented_before_the_import_it_stays_off() -> None:
    """What was taken back before Haystack was imported does not come with the import."""
    program = (
        "from rop_otel_haystack import HaystackInstrumentor\n"
        "HaystackInstrumentor().instrument()\n"
        "HaystackInstrumentor().uninstrument()\n"
        "import haystack\n"
        "assert 'rop_otel' not in haystack.Pipeline.run.__code__.co_filename\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
