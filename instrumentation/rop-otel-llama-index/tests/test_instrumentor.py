"""Switching on and off, other versions, and other people's handlers in the same process."""

from __future__ import annotations

import copy
import logging
import pickle
import subprocess
import sys
from importlib import metadata
from typing import Any

import pytest
from llama_index.core import QueryBundle, async_utils
from llama_index.core.instrumentation import root_dispatcher  # type: ignore[attr-defined]
from llama_index.core.instrumentation.event_handlers import BaseEventHandler
from llama_index.core.instrumentation.span_handlers import BaseSpanHandler
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.query_engine import CitationQueryEngine
from llama_index.core.vector_stores import SimpleVectorStore
from llama_index_parts import BM25Retriever, Watch, WordRerank, engine
from opentelemetry.context import attach, get_current, set_value
from rop_otel_llama_index import LlamaIndexInstrumentor
from rop_otel_llama_index import watched as watching

import rop_otel as rop
from rop_otel.errors import ConfigurationError

HELD: dict[str, Any] = {}


class Tokens(BaseSpanHandler[Any]):
    """A handler that puts the context back by its token, as those of other instrumentation do."""

    def new_span(self, id_: str, *args: Any, **kwargs: Any) -> Any:
        """Attach a context."""
        HELD[id_] = attach(set_value("theirs", id_))

    def prepare_to_exit_span(self, id_: str, *args: Any, **kwargs: Any) -> Any:
        """Put back the one before."""
        token = HELD.pop(id_)
        token.var.reset(token)

    def prepare_to_drop_span(self, id_: str, *args: Any, **kwargs: Any) -> Any:
        """Put back the one before."""
        self.prepare_to_exit_span(id_)


class RaisingSpans(BaseSpanHandler[Any]):
    """A handler of spans that raises."""

    def new_span(self, *args: Any, **kwargs: Any) -> Any:
        """Raise."""
        raise RuntimeError("theirs")

    def prepare_to_exit_span(self, *args: Any, **kwargs: Any) -> Any:
        """Raise."""
        raise RuntimeError("theirs")

    def prepare_to_drop_span(self, *args: Any, **kwargs: Any) -> Any:
        """Raise."""
        raise RuntimeError("theirs")


class RaisingEvents(BaseEventHandler):
    """A handler of events that raises."""

    def handle(self, event: Any, **kwargs: Any) -> Any:
        """Raise."""
        raise RuntimeError("theirs")


def ask(watch: Watch) -> None:
    """Put one question, and see that all of it is seen, once."""
    before = get_current()
    engine(BM25Retriever("n1", "n2", "n3"), WordRerank(keep=2)).query("?")
    assert get_current() == before
    assert watch.kinds() == ["lexical", "rerank", "packing"]
    assert (watch.only.verdict, watch.only.drop_cause) == ("FAIL", "reranked_away")
    watch.records.clear()
    watch.assessments.clear()


def places() -> list[int]:
    """Return everything that instrumentation may touch."""
    dispatcher = vars(type(root_dispatcher))
    touched = (
        *root_dispatcher.span_handlers,
        *root_dispatcher.event_handlers,
        *(dispatcher[name] for name in ("span_enter", "span_exit", "span_drop", "event")),
        vars(BaseNodePostprocessor).get("apostprocess_nodes"),
        vars(CitationQueryEngine)["_create_citation_nodes"],
        async_utils.asyncio_run,
    )
    return list(map(id, touched))


def test_everything_is_restored(watch: Watch) -> None:
    """Switched off again, LlamaIndex is as it was, and nothing is watched; both may be repeated."""
    before = places()
    for _ in range(2):
        watch(selected_by=lambda question: "n1")
        assert places() != before
        ask(watch)
        LlamaIndexInstrumentor().uninstrument()
        assert places() == before
    engine(BM25Retriever("n1")).query("?")
    assert watch.records == []


def test_switched_off_while_something_runs(watch: Watch) -> None:
    """What runs is watched to its end, and nothing that begins after."""

    class Switch(BM25Retriever):
        def _retrieve(self, query_bundle: QueryBundle) -> Any:
            LlamaIndexInstrumentor().uninstrument()
            return super()._retrieve(query_bundle)

    before, context = places(), get_current()
    watch(selected_by=lambda question: "n1")
    engine(Switch("n1"), WordRerank()).query("?")
    assert (watch.kinds(), watch.only.verdict) == (["lexical"], "PASS")
    assert (places(), get_current()) == (before, context)


def test_twice_is_once(watch: Watch) -> None:
    """A second call changes nothing."""
    watch(selected_by=lambda question: "n1")
    LlamaIndexInstrumentor().instrument()
    ask(watch)


def test_another_version_is_left_alone(
    watch: Watch, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A version outside of the range is told in one warning, and not watched; switching off is no error then."""
    before = places()
    monkeypatch.setattr(metadata, "version", lambda package: "0.15.0")
    with caplog.at_level(logging.WARNING, "rop_otel"):
        for _ in range(2):
            LlamaIndexInstrumentor().instrument()
            LlamaIndexInstrumentor().uninstrument()
    assert caplog.messages == ["llama-index-core 0.15.0 is installed and is not watched: versions >=0.12,<0.15 are"]
    assert places() == before


def test_a_llama_index_that_is_not_as_expected(
    watch: Watch, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Where a module of LlamaIndex is not there, one warning says so, and the application starts."""
    monkeypatch.setitem(sys.modules, "rop_otel_llama_index.installing", None)
    with caplog.at_level(logging.WARNING, "rop_otel"):
        watch()
    assert len(caplog.messages) == 1
    engine(BM25Retriever("n1")).query("?")
    assert watch.records == []


def test_watched_methods_can_be_pickled_and_copied(watch: Watch) -> None:
    """An application hands a method of a postprocessor or a store to another process."""
    watch()
    for method in (WordRerank().postprocess_nodes, SimpleVectorStore().query):
        assert pickle.loads(pickle.dumps(method)).__name__ == copy.deepcopy(method).__name__ == method.__name__


def test_a_wrong_setting_is_told(watch: Watch) -> None:
    """A setting that cannot be used raises where it stands, and nothing is watched."""
    with pytest.raises(ConfigurationError, match="cutoff"):
        LlamaIndexInstrumentor().instrument(cutoff=0)
    engine(BM25Retriever("n1")).query("?")
    assert watch.records == []


@pytest.mark.parametrize("ours_first", [True, False])
@pytest.mark.parametrize("theirs", [Tokens, RaisingSpans])
def test_other_handlers_of_spans(watch: Watch, theirs: Any, ours_first: bool) -> None:
    """Handlers that raise, or that put the context back by a token, change nothing, in whichever order they came."""
    if not ours_first:
        root_dispatcher.add_span_handler(theirs())
    watch(selected_by=lambda question: "n1")
    if ours_first:
        root_dispatcher.add_span_handler(theirs())
    for _ in range(2):
        ask(watch)


def test_other_handlers_of_events(watch: Watch) -> None:
    """A handler of events that raises changes nothing."""
    root_dispatcher.event_handlers.insert(0, RaisingEvents())
    watch(selected_by=lambda question: "n1")
    ask(watch)


@pytest.mark.parametrize("part", ["returned", "end", "__init__"])
def test_our_own_failure_is_kept_from_the_application(
    watch: Watch, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, part: str
) -> None:
    """What goes wrong in this package is logged once, and the application goes on."""

    def fail(*args: Any, **kwargs: Any) -> None:
        raise RuntimeError("ours")

    watch(selected_by=lambda question: "n1")
    monkeypatch.setattr(watching.Listing, part, fail)
    with caplog.at_level(logging.WARNING, "rop_otel"):
        for _ in range(2):
            assert str(engine(BM25Retriever("n1")).query("?")) == "See [1]."
    assert len([record for record in caplog.records if "LlamaIndex" in record.message]) == 1
    assert rop.current_handoff().id == ""


def test_the_entry_point_names_the_instrumentor() -> None:
    """``opentelemetry-instrument`` finds it."""
    (found,) = metadata.entry_points(group="opentelemetry_instrumentor", name="rop-llama-index")
    assert found.load() is LlamaIndexInstrumentor


def test_llama_index_is_imported_only_where_it_is_watched() -> None:
    """To import the package, or to switch it on without LlamaIndex, imports nothing of LlamaIndex."""
    program = (
        "import sys, importlib.metadata as metadata\n"
        "from rop_otel_llama_index import LlamaIndexInstrumentor\n"
        "known = metadata.version\n"
        "def version(name):\n"
        "    if name.startswith('llama'): raise metadata.PackageNotFoundError(name)\n"
        "    return known(name)\n"
        "metadata.version = version\n"
        "LlamaIndexInstrumentor().instrument()\n"
        "print([name for name in sys.modules if name.startswith('llama_index.core')])\n"
    )
    finished = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert finished.stdout == "[]\n"
    assert "llama-index-core is not installed" in finished.stderr
