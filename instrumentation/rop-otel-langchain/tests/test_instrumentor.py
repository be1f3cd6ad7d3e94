"""The instrumentor on and off, beside another one, and on versions that it does not know."""

from __future__ import annotations

import gc
import logging
import pickle
import subprocess
import sys
import weakref
from importlib.metadata import entry_points
from importlib.util import find_spec
from typing import Any

import pytest
import rop_otel_langchain.instrumentor as module
from langchain_core.documents import BaseDocumentCompressor, BaseDocumentTransformer
from langchain_core.prompts import BasePromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, base
from langchain_core.vectorstores import VectorStore
from rop_otel_langchain import LangChainInstrumentor

import rop_otel as rop
from rop_otel.testing import capture

FAMILIES = (BaseDocumentCompressor, BaseDocumentTransformer, BasePromptTemplate, BaseRetriever, Runnable, VectorStore)


def everything() -> dict[tuple[Any, str], Any]:
    """Return every member of every class that may be wrapped, and the functions."""
    waiting: list[Any] = [*FAMILIES]
    seen: dict[tuple[Any, str], Any] = {(base, name): value for name, value in vars(base).items()}
    while waiting:
        owner = waiting.pop()
        # What __abstractmethods__ and the caches of typing and abc hold comes and goes by itself.
        seen |= {(owner, name): value for name, value in vars(owner).items() if not name.startswith(("_abc", "__abs"))}
        waiting += owner.__subclasses__()
    return seen


def test_everything_is_put_back(parts: Any, instrument: Any) -> None:
    """After ``uninstrument`` every class is as it was, one that was defined meanwhile included."""
    before = everything()
    instrument()
    assert [key for key, value in before.items() if vars(key[0]).get(key[1]) is not value]

    class Meanwhile(parts.Given):  # type: ignore[misc]
        def invoke(self, *args: Any, **kwargs: Any) -> Any:
            return super().invoke(*args, **kwargs)

    wrapped = vars(Meanwhile)["invoke"]
    LangChainInstrumentor().uninstrument()
    assert not [key for key, value in before.items() if vars(key[0]).get(key[1]) is not value]
    assert vars(Meanwhile)["invoke"] is wrapped.__wrapped__
    with capture() as captured:
        parts.qa().invoke({"input": "n1"})
    assert not captured.assessments


def test_a_class_that_nobody_uses_any_more_goes(parts: Any, instrument: Any) -> None:
    """A class that a function defines in each of its calls is not kept alive."""
    instrument()

    def defined() -> weakref.ref[type]:
        class Once(parts.Given):  # type: ignore[misc]
            def invoke(self, *args: Any, **kwargs: Any) -> Any:
                return super().invoke(*args, **kwargs)

        assert Once(results=parts.notes).invoke("?") == parts.notes
        return weakref.ref(Once)

    found = defined()
    gc.collect()
    assert found() is None


class Sealed(type(Runnable)):  # type: ignore[misc]
    """Makes classes that cannot be changed."""

    def __setattr__(cls, name: str, value: Any) -> None:
        if name == "invoke":
            raise TypeError("sealed")
        super().__setattr__(name, value)


def test_a_class_that_cannot_be_changed(instrument: Any, caplog: pytest.LogCaptureFixture) -> None:
    """It is defined and works as without us; that it is not watched is logged."""
    instrument()

    def defined() -> weakref.ref[type]:
        class Own(Runnable[Any, Any], metaclass=Sealed):
            def invoke(self, input: Any, config: Any = None, **kwargs: Any) -> Any:  # noqa: A002
                return input

        assert Own().invoke(1) == 1
        return weakref.ref(Own)

    found = defined()
    (record,) = caplog.records
    assert "Own.invoke: it could not be watched" in record.getMessage()
    record.exc_info = None  # holds the class
    gc.collect()
    assert found() is None, "whatever is instrumented next would be told of it too"


def test_a_wrapper_over_ours_stays(parts: Any, instrument: Any, monkeypatch: Any) -> None:
    """What others put over a wrapper of ours stays when ours goes, and is not counted any more."""
    instrument()
    ours = BaseRetriever.invoke

    def theirs(self: Any, *args: Any, **kwargs: Any) -> Any:
        return ours(self, *args, **kwargs)

    monkeypatch.setattr(BaseRetriever, "invoke", theirs)
    LangChainInstrumentor().uninstrument()
    assert BaseRetriever.invoke is theirs
    with capture() as captured, rop.handoff("mine"):
        assert len(parts.vector().invoke("n1")) == 3
    assert not captured.records[0].stages


def test_twice_is_once(parts: Any, instrument: Any, caplog: Any) -> None:
    """A second ``instrument`` changes nothing."""
    instrument()
    with caplog.at_level(logging.ERROR):
        instrument()
    with capture() as captured:
        parts.qa().invoke({"input": "n1"})
    assert [stage.stage for stage in captured.assessments[0].stages] == "lexical vector fusion rerank packing".split()


def test_on_again(parts: Any, instrument: Any) -> None:
    """It can be switched off and on."""
    for _ in range(2):
        instrument()
        with capture() as captured:
            parts.qa().invoke({"input": "n1"})
        assert len(captured.assessments) == 1
        LangChainInstrumentor().uninstrument()


def test_with_monitoring_off_nothing_is_done(parts: Any, instrument: Any, monkeypatch: Any) -> None:
    """Where monitoring is switched off, documents and prompts are not looked at."""
    instrument()
    rop.configure(enabled=False)
    monkeypatch.setattr("rop_otel_langchain.prompts.texts_of", lambda *_: pytest.fail("a prompt was read"))
    monkeypatch.setattr("rop_otel_langchain.functions.texts_of", lambda *_: pytest.fail("a text was read"))
    try:
        assert parts.qa().invoke({"input": "n2"})["answer"] == "So it is."
        assert parts.qa().batch([{"input": "n2"}])[0]["answer"] == "So it is."
    finally:
        rop.configure(enabled=True)


@pytest.mark.parametrize("version", ["0.2.43", "2.0.0", "nonsense"])
def test_another_version_is_told_and_left_alone(instrument: Any, monkeypatch: Any, caplog: Any, version: str) -> None:
    """With a version outside of the range, or an unknown one, there is one warning, and nothing is wrapped."""
    monkeypatch.setattr("rop_otel.instrumenting.notices.metadata.version", lambda _: version)
    monkeypatch.setattr("rop_otel.instrumenting.notices._warned", set())
    before = everything()
    with caplog.at_level(logging.WARNING):
        instrument()
        LangChainInstrumentor().uninstrument()
        instrument()
    (record,) = [each for each in caplog.records if each.name == "rop_otel"]
    assert module.VERSIONS in record.getMessage()
    assert before == everything()


def test_importing_the_package_imports_no_langchain() -> None:
    """The package can be imported where LangChain is not, or is another version."""
    code = "import sys, rop_otel_langchain; sys.exit(any(name.startswith('langchain') for name in sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_opentelemetry_instrument_finds_it() -> None:
    """The entry point is what ``opentelemetry-instrument`` loads."""
    (found,) = entry_points(group="opentelemetry_instrumentor", name="rop-langchain")
    assert found.load() is LangChainInstrumentor


def test_wrapped_things_can_be_pickled(parts: Any, instrument: Any) -> None:
    """Prompts and other parts are pickled as before."""
    instrument()
    assert pickle.loads(pickle.dumps(parts.prompt)) == parts.prompt


@pytest.mark.skipif(find_spec("openinference") is None, reason="OpenInference is not installed")
@pytest.mark.parametrize("ours_first", [True, False])
def test_beside_openinference_each_stage_counts_once(parts: Any, instrument: Any, ours_first: bool) -> None:
    """The spans of OpenInference's instrumentor, in the same handoff, are no second stages."""
    from openinference.instrumentation.langchain import LangChainInstrumentor as Other
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    ended: list[rop.Assessment] = []
    if ours_first:
        instrument(selected_by=lambda _: "n2")
    Other().instrument(tracer_provider=provider)
    if not ours_first:
        instrument(selected_by=lambda _: "n2")
    try:
        rop.configure(tracer_provider=provider)
        with rop.handoff("outer") as handoff:
            parts.qa().invoke({"input": "n2"})
        ended.append(handoff.assessment)
    finally:
        Other().uninstrument()
        rop.shutdown()
        provider.shutdown()
    assert [stage.stage for stage in ended[0].stages] == "lexical vector fusion rerank packing".split()
    kinds = [(span.attributes or {}).get("openinference.span.kind") for span in exporter.get_finished_spans()]
    assert kinds.count("RETRIEVER") == 4
