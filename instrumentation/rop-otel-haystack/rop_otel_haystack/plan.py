"""What a pipeline's graph says before it runs: which components are stages, what feeds them, which run in a loop."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from inspect import getattr_static
from typing import Any, Final, get_args
from weakref import WeakKeyDictionary

from rop_otel.instrumenting import Settings, kinds
from rop_otel_haystack.kinds import ASKED, MADE, is_router, kind_of, prompt_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A component that is watched.

    Args:
        kind: Kind of stage; None for what is none: a model, or a super component, whose runs in a loop are rounds.
        name: Its name in the pipeline.
        source: Whether it takes no documents.
        sockets: Inputs that take documents.
        fed_by: Names of the stages whose documents reach it; empty: the ones before it.
        first_round: Which of its runs is the first to be a round of its own; 0: none.
        arms: Outputs by which it parts documents, each a stage of its own; empty: it returns one list.
        parted: Whether a router comes after it: of its scores the best may be anywhere then.
        behind: Whether it comes behind a loop that retrieves, of which it is handed what the last round found.
        prompt: Whether a prompt is ``made`` in it or a model ``asked`` with one; None: neither.
    """

    kind: str | None
    name: str
    source: bool = False
    sockets: tuple[str, ...] = ()
    fed_by: tuple[str, ...] = ()
    first_round: int = 0
    arms: tuple[str, ...] = ()
    parted: bool = False
    behind: bool = False
    prompt: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is watched in a pipeline. It refers to no component, so that it keeps none alive.

    Args:
        steps: Watched components by the identity of the instance.
        nodes: Names of all components by the identity of the instance.
        sources: Names of those that retrieve, at any depth.
        before_sources: Names of those behind which one of these may come.
        readers: Names of the components that build answers.
        drawn_from: What the plan was made from; another one needs another plan.
    """

    steps: Mapping[int, Step]
    nodes: Mapping[int, str]
    sources: frozenset[str]
    before_sources: frozenset[str] = frozenset()
    readers: tuple[str, ...]
    drawn_from: tuple[object, ...]


_DOCUMENT: Final = re.compile(r"\bDocument\b")
_plans: Final[WeakKeyDictionary[Any, Plan]] = WeakKeyDictionary()


def plan_of(pipeline: Any, settings: Settings) -> Plan:
    """Return the plan of a pipeline, made anew where its components or connections changed.

    Args:
        pipeline: A pipeline of Haystack.
        settings: The user's, which may give the kinds of components.
    """
    graph = pipeline.graph
    components = [(name, id(instance)) for name, instance in pipeline.walk()]
    connections = sum(len(edges) for _, near in graph.adjacency() for edges in near.values())
    drawn_from = (*settings.stages.items(), connections, *components)
    plan = _plans.get(graph)
    if plan is None or plan.drawn_from != drawn_from:
        plan = _plans[graph] = _drawn(pipeline, settings, drawn_from)
    return plan


def _drawn(pipeline: Any, settings: Settings, drawn_from: tuple[object, ...]) -> Plan:
    graph = pipeline.graph
    held = {name: inner for name, instance in pipeline.walk() if (inner := _held(instance)) is not None}
    nodes = {name: node for name, node in graph.nodes(data=True) if name not in held}
    found: dict[str, Step] = {}
    for name, node in nodes.items():
        senders, receivers = (
            [edge for _, _, edge in edges(name, data=True)] for edges in (graph.in_edges, graph.out_edges)
        )
        step = _step(name, node, settings, senders, receivers)
        if step is not None:
            found[name] = step
    loops = _loops(graph, {name for name, step in found.items() if step.source})
    unclear = loops.keys() | held.keys()
    behind_loops = {each for name, first in loops.items() if first == 1 for each in reachable(graph, name)}
    for name, step in found.items():
        fed_by = () if step.source or name in loops else _feeding(graph, name, found, unclear)
        parted = any(each in found and found[each].arms for each in reachable(graph, name))
        first_round = loops.get(name, 0)
        if step.prompt is not None and first_round != 1:
            first_round = 0  # of prompts that a model is asked with again, to mend its answer, the last one counts
        behind = name not in loops and name in behind_loops
        found[name] = replace(step, fed_by=fed_by, first_round=first_round, parted=parted, behind=behind)
    found |= {name: Step(kind=None, name=name, first_round=1) for name in held if name in loops}
    sources = frozenset(
        [
            *(name for name, step in found.items() if step.source),
            *(name for name, inner in held.items() if plan_of(inner, settings).sources),
        ]
    )
    return Plan(
        steps={id(graph.nodes[name]["instance"]): step for name, step in found.items()},
        nodes={id(instance): name for name, instance in pipeline.walk()},
        sources=sources,
        before_sources=frozenset(name for name in graph.nodes if not sources.isdisjoint(reachable(graph, name))),
        readers=tuple(name for name, step in found.items() if step.kind == kinds.READER),
        drawn_from=drawn_from,
    )


def step_by_hand(component: Any, settings: Settings) -> Step | None:
    """Return what a component is that no pipeline runs; None where it is no stage.

    Args:
        component: The component.
        settings: The user's, which may give its kind.
    """
    if _held(component) is not None:
        return None
    sockets = {
        "input_sockets": component.__haystack_input__._sockets_dict,
        "output_sockets": component.__haystack_output__._sockets_dict,
    }
    return _step(type(component).__name__, {"instance": component, **sockets}, settings)


def _step(
    name: str, node: Mapping[str, Any], settings: Settings, senders: Iterable[Any] = (), receivers: Iterable[Any] = ()
) -> Step | None:
    """Return what a component is; None where it is no stage.

    Args:
        name: Its name.
        node: The component and its sockets.
        settings: The user's.
        senders: Connections to it.
        receivers: Connections from it.
    """
    component = type(node["instance"])
    inputs: Mapping[str, Any] = node["input_sockets"]
    # A template's variables take anything; what is connected to them says what they are handed.
    fed = {edge["to_socket"].name for edge in senders if _of_documents(edge["from_socket"].type)}
    sockets = tuple(each for each, socket in inputs.items() if each in fed or _of_documents(socket.type))
    outputs = [each for each, socket in node["output_sockets"].items() if _of_documents(socket.type)]
    whole = "documents" if "documents" in outputs else outputs[0] if len(outputs) == 1 else None
    taken = {edge["from_socket"].name for edge in receivers}
    arms = tuple(each for each in outputs if each in taken)
    if arms == (whole,) and not is_router(component):
        arms = ()
    prompt = prompt_of(component, inputs=frozenset(inputs), outputs=frozenset(node["output_sockets"]))
    returns = bool(arms) or (whole is not None and not is_router(component))
    key = settings.key_of(component, name)
    if key is not None:
        kind = settings.stages[key]
        source = not sockets and prompt is None
        step = Step(kind=kind, name=name, source=source, sockets=sockets, arms=arms, prompt=prompt)
        return None if kind is None else step
    found = kind_of(component, takes=bool(sockets), returns=returns, inputs=frozenset(inputs))
    kind, source = found or (None, False)
    if found is None and prompt == MADE:
        kind = kinds.PACKING
    if kind is None and prompt is None:
        return None
    return Step(kind=kind, name=name, source=source, sockets=sockets, arms=arms, prompt=prompt)


def _held(instance: Any) -> Any:
    """Return the pipeline that a super component wraps, None where a component is none."""
    inner = getattr_static(instance, "pipeline", None)  # a property may load a model
    return inner if hasattr(inner, "graph") and hasattr(inner, "walk") else None


def _of_documents(wanted: Any) -> bool:
    """Return whether a type is documents, or holds them at any depth.

    Versions before 3 leave it as text where a component's module postpones its annotations.
    """
    if isinstance(wanted, str):
        return _DOCUMENT.search(wanted) is not None
    if isinstance(wanted, type) and wanted.__module__.startswith("haystack.") and wanted.__name__ == "Document":
        return True
    return any(_of_documents(part) for part in get_args(wanted))


def _loops(graph: Any, sources: set[str]) -> dict[str, int]:
    """Return the components that lie in a loop, with the first of their runs that is a round.

    A loop that retrieves has rounds from its first run. One that does not, such as one that has an answer mended, works
    on the documents that it was given: only what comes again is a round.
    """
    reached = {name: reachable(graph, name) for name in graph.nodes}
    loops = {name for name in reached if name in reached[name]}
    return {
        name: 1 if any(each in reached[name] and name in reached[each] for each in sources & loops) else 2
        for name in loops
    }


def reachable(graph: Any, start: str) -> set[str]:
    """Return the components that something which a component hands on may reach."""
    found: set[str] = set()
    ahead = [start]
    while ahead:
        for each in graph.successors(ahead.pop()):
            if each not in found:
                found.add(each)
                ahead.append(each)
    return found


def _feeding(graph: Any, name: str, found: Mapping[str, Step], unclear: Iterable[str]) -> tuple[str, ...]:
    """Return the stages whose documents reach a component, also through others; none where a loop is among them.

    What reaches a prompt may be text that another component made of documents; what a model replies is none of it.
    """
    unclear = set(unclear)
    feeding: dict[str, None] = {}
    seen = {name}
    ahead = [name]
    while ahead:
        for each, output in _senders(graph, ahead.pop(), whatever=found[name].prompt is not None):
            if each in found and found[each].prompt == ASKED:
                continue
            if each in unclear:
                return ()
            if each in found and found[each].kind not in (None, kinds.PACKING, kinds.READER):
                feeding[arm_of(each, output) if found[each].arms else each] = None
            elif each not in seen:
                seen.add(each)
                ahead.append(each)
    return tuple(feeding)


def arm_of(name: str, output: str) -> str:
    """Return the name of the stage that is one output of a component."""
    return f"{name}.{output}"


def _senders(graph: Any, name: str, *, whatever: bool) -> Iterator[tuple[str, str]]:
    for sender, _, edge in graph.in_edges(name, data=True):
        if whatever or _of_documents(edge["from_socket"].type) or _of_documents(edge["to_socket"].type):
            yield sender, edge["from_socket"].name
