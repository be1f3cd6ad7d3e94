"""Routers, and whatever else parts documents: each list that goes on is a stage of its own."""

from __future__ import annotations

from typing import Any

import pytest
from haystack import Document, component
from haystack.components.builders import PromptBuilder
from haystack.components.joiners import BranchJoiner, DocumentJoiner
from haystack.components.rankers import LostInTheMiddleRanker
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
from haystack.components.routers import ConditionalRouter, MetadataRouter

import rop_otel as rop

LANGUAGES = {"timeouts": "en", "locks": "en", "queues": "de"}


def routed(parts: Any, *connections: tuple[str, str], router: Any = None, shown: int = 9, **more: Any) -> Any:
    """Return a pipeline of a retriever, a router by language, other components and, where it is connected, a prompt."""
    store = parts.notes(**{name: {"lang": lang} for name, lang in LANGUAGES.items()})
    rules = {lang: {"field": "meta.lang", "operator": "==", "value": lang} for lang in ("en", "de")}
    pipeline = parts.Pipeline()
    pipeline.add_component("bm25", InMemoryBM25Retriever(store, top_k=6))
    pipeline.add_component("route", router or MetadataRouter(rules=rules))
    if connections:
        template = f"{{% for each in documents[:{shown}] %}}{{{{ each.content }}}}\n{{% endfor %}}"
        pipeline.add_component("prompt", PromptBuilder(template))
    for name, added in more.items():
        pipeline.add_component(name, added)
    for sender, receiver in (("bm25.documents", "route.documents"), *connections):
        pipeline.connect(sender, receiver)
    return pipeline


def codes(assessment: rop.Assessment) -> list[tuple[str, str]]:
    """Return the findings with their stages."""
    return [(finding.code.value, finding.stage) for finding in assessment.findings]


@pytest.mark.parametrize(
    ("selected", "said"),
    [
        ("locks", "Pipeline: PASS, the selected object reached the reader at rank 2"),
        ("queues", "Pipeline: FAIL, the selected object was lost at MetadataRouter: the stage dropped it"),
    ],
)
def test_what_a_router_keeps_back_is_lost_at_the_router(selecting: Any, parts: Any, selected: str, said: str) -> None:
    """A document that a router sends elsewhere is no hidden cut; one that goes nowhere is lost at the router."""
    watch = selecting(selected)
    routed(parts, ("route.en", "prompt.documents")).run({"bm25": {"query": parts.QUERY}})
    assert str(watch.only) == said
    assert [(stage.stage, stage.name) for stage in watch.only.stages] == [
        ("lexical", "bm25"),
        ("MetadataRouter", "route.en"),
        ("packing", "prompt"),
    ]


@pytest.mark.parametrize("selected", ["timeouts", "queues"])
def test_each_way_of_a_router_is_a_stage(selecting: Any, parts: Any, selected: str) -> None:
    """Nothing that went one way is missed on the other, not even the best document, and a joiner takes both."""
    watch = selecting(selected)
    pipeline = routed(
        parts,
        ("route.en", "reorder.documents"),
        ("reorder.documents", "join.documents"),
        ("route.de", "join.documents"),
        ("join.documents", "prompt.documents"),
        reorder=LostInTheMiddleRanker(),
        join=DocumentJoiner(join_mode="concatenate"),
    )
    pipeline.run({"bm25": {"query": parts.QUERY}})
    assert (watch.only.verdict, watch.only.findings) == ("PASS", ())


def test_what_is_lost_on_one_way_is_lost_there(selecting: Any, parts: Any) -> None:
    """A component behind one output of a router is told from what is behind the other."""
    watch = selecting("locks")
    pipeline = routed(
        parts,
        ("route.de", "reorder.documents"),
        ("reorder.documents", "join.documents"),
        ("route.en", "cut.documents"),
        ("cut.documents", "join.documents"),
        ("join.documents", "prompt.documents"),
        reorder=LostInTheMiddleRanker(),
        cut=parts.Cut(1),
        join=DocumentJoiner(join_mode="concatenate"),
    )
    pipeline.run({"bm25": {"query": parts.QUERY}})
    assert str(watch.only) == "Pipeline: FAIL, the selected object was lost at Cut: the stage dropped it"


def test_the_best_of_what_a_router_hands_on_is_still_missed(selecting: Any, parts: Any) -> None:
    """The scores of documents count from the router on, so that a cut of the best one behind it is told."""

    @component
    class Tail:
        @component.output_types(documents=list[Document])
        def run(self, documents: list[Document]) -> dict[str, Any]:
            return {"documents": documents[1:]}

    watch = selecting("locks")
    pipeline = routed(parts, ("route.en", "tail.documents"), ("tail.documents", "prompt.documents"), tail=Tail())
    pipeline.run({"bm25": {"query": parts.QUERY}})
    assert codes(watch.only) == [("top_ranked_cut", "Tail")]


def test_a_way_that_is_not_taken_loses_what_was_found(selecting: Any, parts: Any) -> None:
    """Where a router asks somebody else instead, what the retriever found is lost at the router."""

    @component
    class Elsewhere:
        @component.output_types(documents=list[Document])
        def run(self, query: str) -> dict[str, Any]:
            return {"documents": [Document(id="web", content="a page")]}

    watch = selecting("timeouts")
    routes: Any = [
        {
            "condition": "{{ documents | length > 9 }}",
            "output": "{{ documents }}",
            "output_name": "enough",
            "output_type": list[Document],
        },
        {"condition": "{{ True }}", "output": "{{ query }}", "output_name": "ask", "output_type": str},
    ]
    pipeline = routed(
        parts,
        ("route.enough", "join.documents"),
        ("route.ask", "web.query"),
        ("web.documents", "join.documents"),
        ("join.documents", "prompt.documents"),
        router=ConditionalRouter(routes, unsafe=True),
        web=Elsewhere(),
        join=DocumentJoiner(),
    )
    pipeline.run({"bm25": {"query": parts.QUERY}, "route": {"query": "?"}})
    assert str(watch.only).startswith(
        "Pipeline: FAIL, the selected object was lost at ConditionalRouter: the stage dropped it"
    )
    assert codes(watch.only) == [("nothing_returned", "ConditionalRouter")]


def test_a_router_at_the_end_is_no_stage(selecting: Any, parts: Any) -> None:
    """Where nothing takes what a router hands on, all of it is what the pipeline returns."""
    watch = selecting("queues")
    routed(parts).run({"bm25": {"query": parts.QUERY}})
    assert (watch.only.verdict, len(watch.only.stages)) == ("PASS", 1)


def test_a_source_of_two_lists_is_two_sources(selecting: Any, parts: Any) -> None:
    """A component that finds in two ways at once, with a list for each, is an arm for each."""

    @component
    class Both:
        @component.output_types(near=list[Document], matching=list[Document])
        def run(self, query: str) -> dict[str, Any]:
            return {"near": [Document(id="n1", content="one")], "matching": [Document(id="n2", content="two")]}

    watch = selecting("n2")
    pipeline = parts.Pipeline()
    pipeline.add_component("both", Both())
    pipeline.add_component("join", DocumentJoiner())
    pipeline.connect("both.near", "join.documents")
    pipeline.connect("both.matching", "join.documents")
    pipeline.run({"both": {"query": "?"}})
    assert [(stage.stage, stage.name) for stage in watch.only.stages] == [
        ("retriever", "both.near"),
        ("retriever", "both.matching"),
        ("fusion", "join"),
    ]
    assert (watch.only.verdict, watch.only.findings) == ("PASS", ())


def test_a_router_in_a_loop(selecting: Any, parts: Any) -> None:
    """Each pass has its own ways, and what comes after the loop takes the last one that was taken."""

    @component
    class Again:
        @component.output_types(query=str)
        def run(self, documents: list[Document]) -> dict[str, Any]:
            return {"query": parts.QUERY}

    watch = selecting("locks")
    routes: Any = [
        {
            "condition": condition,
            "output": "{{ documents }}",
            "output_name": name,
            "output_type": list[Document],
        }
        for condition, name in (("{{ documents[0].id == 'timeouts' }}", "enough"), ("{{ True }}", "few"))
    ]
    pipeline = routed(
        parts,
        ("first.value", "bm25.query"),
        ("route.few", "again.documents"),
        ("again.query", "first.value"),
        ("route.enough", "prompt.documents"),
        router=ConditionalRouter(routes, unsafe=True),
        shown=1,
        first=BranchJoiner(str),
        again=Again(),
    )
    pipeline.run({"first": {"value": "shield"}})
    assert [(stage.round, stage.name) for stage in watch.only.stages if stage.returned] == [
        (1, "bm25"),
        (1, "route.few"),
        (2, "bm25"),
        (2, "route.enough"),
        (None, "prompt"),
    ]
    assert str(watch.only) == "Pipeline: FAIL, the selected object was lost at packing: packing left it out"
