"""Handoffs with very much of one thing, to be judged."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Final

from rop_otel.core.handoff import HandoffRecord, StageRecord, assess
from rop_otel.core.handoff.stage_lists import lists_of
from rop_otel.core.measures import ndcg, precision, recall
from rop_otel.core.profile import Membership, Resolver
from rop_otel.core.profile.intake import Entry, Intake
from rop_otel.core.profile.membership import last_of
from rop_otel.core.profile.outcome_counts import RunCounts
from rop_otel.core.profile.report import run_report
from tests.core.profile.declared import opened
from tests.safety.growth import Call, Case

END: Final = 10**9


def ids(count: int, prefix: str = "d") -> tuple[str, ...]:
    """Return this many IDs."""
    return tuple(f"{prefix}{number}" for number in range(count))


def stage(kind: str, returned: tuple[str, ...] | None = ("a",), **facts: Any) -> dict[str, Any]:
    """Return the facts of a stage, without a place in time."""
    return {"kind": kind, "returned": returned, **facts}


def record(stages: Iterable[dict[str, Any]], **facts: Any) -> HandoffRecord:
    """Return a handoff of these stages, one after the other unless they say when."""
    placed = [
        StageRecord(**{"span_id": str(place), "start_ns": 10 * place, "end_ns": 10 * place + 5, **each})
        for place, each in enumerate(stages)
    ]
    given = {"selected": ("a",), "judged": ("a", "b"), **facts}
    return HandoffRecord(name="q", handoff_id="h", start_ns=0, end_ns=END, stages=tuple(placed), **given)


def judged(facts: HandoffRecord, resolver: Resolver | None = None) -> Call:
    """Return the call that judges a handoff, and says what each stage dropped."""

    def call() -> None:
        assess(facts, resolver=resolver)
        lists_of(facts, resolver=resolver)

    return call


def _listed(count: int, *, rule: str = "any", wanted: Callable[[tuple[str, ...]], tuple[str, ...]]) -> Call:
    """Return a handoff of four stages whose list is long, and of which very many IDs are wanted."""
    found = ids(count)
    stages = [stage(kind, found) for kind in ("vector", "rerank", "mmr", "packing")]
    return judged(record(stages, selected=wanted(found), judged=wanted(found), rule=rule))


def _resolved(count: int, *, objects: int, rule: str = "any", returned: str = "aliases") -> Call:
    """Return the same with a resolver that knows each ID by a member, an alias, or not at all."""
    each = count // objects
    members = {f"o{one}": [f"o{one}m{number}" for number in range(each)] for one in range(objects)}
    aliases = {name: [f"{raw}!" for raw in raws] for name, raws in members.items()}
    resolver = Resolver(members, aliases=aliases)
    raws = [raw for name in reversed(list(members)) for raw in reversed(members[name])]
    found = tuple(f"{raw}!" for raw in raws) if returned == "aliases" else tuple(raws)
    stages = [stage(kind, found, input=found) for kind in ("vector", "rerank", "packing")]
    return judged(record(stages, selected=tuple(members), judged=tuple(members), rule=rule), resolver)


def _stages(count: int, *before: dict[str, Any], each: Callable[[int], dict[str, Any]], **facts: Any) -> Call:
    return judged(record([*before, *map(each, range(count))], **facts))


def _groups(count: int) -> Call:
    """Return a handoff that needs all of one of many objects, of which the list holds nearly all."""
    resolver = Resolver({f"o{number}": [f"o{number}a", f"o{number}b"] for number in range(count)})
    found = (*(f"o{number}a" for number in range(count)), "o0b")
    stages = [stage("vector", found), stage("packing", found)]
    return judged(record(stages, selected=tuple(resolver.objects()), rule="all"), resolver)


def _readers(count: int) -> Call:
    """Return many sources, and many readers that answer from them."""
    sources = [stage("vector", (f"d{place}",), labels=None) for place in range(count)]
    packed = stage("packing", ids(9), labels=ids(9, "S"))
    readers = [stage("reader", ("d1",), labels=("S1",), citations=("S1", "S0"), input=("d1",)) for _ in range(count)]
    early = [stage("reader", ("d1",)) for _ in range(count)]
    return judged(record([*sources, *early, packed, *readers]))


def _needed(count: int, *, returned: Callable[[int], tuple[str, ...]]) -> Call:
    """Return a handoff that needs every one of many keys."""
    found = returned(count)
    stages = [stage(kind, found[::-1]) for kind in ("vector", "rerank", "packing")]
    return judged(record(stages, selected=ids(count), judged=ids(count), need="every"))


def _arms(count: int) -> Call:
    """Return many sources that only together hold all members of the selected object, which a fusion drops."""
    resolver = Resolver({"o": ids(count)})
    sources = [stage("vector", (raw,)) for raw in ids(count)]
    fused = [stage("fusion", ("x",)), stage("packing", ("x",))]
    return judged(record([*sources, *fused], selected=("o",), rule="all", cutoff=3), resolver)


def _foreign(count: int) -> Call:
    """Return many stages of ours beside as many of somebody else's, of which no ID can be read."""
    times = [{"start_ns": 10 * place, "end_ns": 10 * place + 8} for place in range(count)]
    ours = [stage("vector", (f"d{place}",), span_id=f"o{place}", **times[place]) for place in range(count)]
    theirs = [
        stage("vector", None, foreign=True, span_id=f"f{place}", start_ns=10 * place + 9, end_ns=10 * place + 12)
        for place in range(count)
    ]
    return judged(record([*ours, *theirs]))


def _nested(count: int, *, kind: Callable[[int], str], **facts: Any) -> Call:
    """Return stages each within the next, with one of somebody else's in the innermost."""
    innermost = stage("vector", ("a",), foreign=True, span_id="0", parent_id="1", start_ns=count, end_ns=count)
    around = [
        stage(
            kind(place),
            ("a", f"d{place}"),
            span_id=str(place),
            parent_id=str(place + 1),
            start_ns=count - place,
            end_ns=count + place,
            **facts,
        )
        for place in range(1, count)
    ]
    return judged(record([innermost, *around]))


def _inner_retrievers(count: int) -> Call:
    """Return many retrievers of somebody else's deep within as many stages of ours."""
    around = [
        stage("web", ("a",), span_id=str(place), parent_id=str(place - 1), start_ns=place, end_ns=END - 1 - place)
        for place in range(count)
    ]
    inner = [
        stage("vector", None, foreign=True, span_id=f"f{place}", parent_id=str(count - 1), start_ns=0, end_ns=place)
        for place in range(count)
    ]
    return judged(record([*around, *inner]))


def _expanded(count: int) -> Call:
    """Return many sources, an expansion of them, and many packings that each drop one and keep what was added."""
    sources = [stage("vector", (f"d{place}",)) for place in range(count)]
    expanded = stage("expansion", (*ids(count), "new"), scores=(*(1.0 / (1 + n) for n in range(count)), 0.0))
    packing = [stage("packing", ("new",), input=("new", f"d{place}")) for place in range(count)]
    return judged(record([*sources, expanded, stage("mmr", ("new",), input=("new", *ids(count))), *packing]))


def _ranked_once(count: int) -> Call:
    """Return a long ranking, and many stages after it that each drop one of it."""
    ranked = stage("rerank", ids(count), scores=(1.0,) * count)
    first = stage("sentence_selection", ("d0", "x"), input=ids(count))
    later = [
        stage("sentence_selection", (f"d{place + 1}", "x"), input=(f"d{place}", "x", f"d{place + 1}"))
        for place in range(count)
    ]
    return judged(record([ranked, first, *later]))


def _measures(count: int) -> Call:
    gains = [1, 0] * (count // 2)

    def call() -> None:
        recall(gains, k=count, relevant=count)
        precision(gains, k=count)
        ndcg(gains, k=1000, ideal=gains)

    return call


def _memberships(count: int) -> Call:
    """Return the rules of a run with one object that has very many members, all returned in reverse."""
    resolver = Resolver({"o": ids(count)})
    found = tuple(reversed(ids(count)))

    def call() -> None:
        Membership(("o",), rule="all", resolver=resolver).rank(found)
        Membership(("o",), rule="any", resolver=resolver).rank(found)
        last_of(frozenset(found), found)

    return call


def _lines(count: int, *, ids_of: int, distinct: bool = True) -> Call:
    """Return the evaluation of many lines, each with this many IDs, some of them no records."""
    run = opened()
    lines = [
        json.dumps({"record_id": f"r{number if distinct else 1}", "selected": "obj-b", "ids": ids(ids_of)})
        for number in range(count)
    ]
    block = "\n".join([*lines, *(["{"] * (count // 4))]).encode()

    def call() -> None:
        tally = RunCounts(run)
        Intake(run, tally, keep=list[Entry]().append).block(block, file="f", line=1)
        run_report(run, tally.accounts())

    return call


def _resolver(count: int) -> Call:
    """Return the call that makes a resolver of which every object has an alias, and writes and reads it."""
    members = {name: [f"{name}#0"] for name in ids(count)}
    aliases = {name: [f"{name}!"] for name in members}
    return lambda: Resolver.parse(Resolver(members, aliases=aliases).to_bytes())


def _long_ids(count: int) -> Call:
    """Return lists of long IDs, each read by itself as those of spans are."""

    def found(first: int = 0) -> tuple[str, ...]:
        return tuple(f"{number}{'x' * count}" for number in range(first, 20))

    def call() -> None:
        kinds = enumerate(("vector", "rerank", "packing") * 5)
        stages = [stage(kind, found(place), input=found()) for place, kind in kinds]
        judged(record(stages, selected=found()[:1], judged=found()))()

    return call


CASES: Final = [
    Case("keys, every one needed", 4000, partial(_needed, returned=ids)),
    Case("keys, every one needed, the last one lost", 4000, partial(_needed, returned=lambda count: ids(count - 1))),
    Case(
        "judged objects that stages were handed",
        3000,
        lambda count: judged(record([stage("mmr", ("x",), input=ids(count))] * 3, judged=ids(count))),
    ),
    Case(
        "passages of few tokens",
        1500,
        lambda count: judged(
            record(
                [
                    stage(kind, ids(count), id_tokens=(place + 2,) * count, shares=(0.5,) * count)
                    for place, kind in enumerate(("packing", "rescue", "rescue"))
                ],
                judged=ids(count),
            )
        ),
    ),
    Case(
        "packings with few tokens of one passage",
        500,
        partial(_stages, each=lambda place: stage("packing", ("a",), id_tokens=(1 + place % 5,), shares=(0.5,))),
    ),
    Case("sources that returned nothing", 500, partial(_stages, each=lambda place: stage("vector", ()))),
    Case(
        "failed packings",
        1000,
        partial(_stages, each=lambda place: stage("packing", ("a",), failed=place % 2 == 0)),
    ),
    Case("judged objects, in reverse", 4000, partial(_listed, wanted=lambda found: found[::-1])),
    Case("judged objects, at the end", 8000, partial(_listed, wanted=lambda found: found[len(found) // 2 :])),
    Case("judged objects, the same", 16000, partial(_listed, wanted=lambda found: found[-1:] * len(found))),
    Case("judged objects, none found", 8000, partial(_listed, wanted=lambda found: ids(len(found), "x"))),
    Case("selected objects, all needed", 4000, partial(_listed, rule="all", wanted=lambda found: found[::-1])),
    Case("aliases of one object", 1500, partial(_resolved, objects=1)),
    Case("aliases of many objects", 3000, partial(_resolved, objects=1000)),
    Case("members of one object, all needed", 1500, partial(_resolved, objects=1, rule="all", returned="members")),
    Case("objects, all members needed", 3000, partial(_resolved, objects=500, rule="all", returned="members")),
    Case("objects, all members needed, nearly there", 3000, _groups),
    Case(
        "grades",
        5000,
        lambda count: judged(record([stage("packing", ids(10))], judged=ids(count), grades=(2,) * count)),
    ),
    Case("stages in a chain", 500, partial(_stages, each=lambda place: stage("rerank", ids(3)))),
    Case(
        "stages, very many judged", 400, lambda count: judged(record([stage("rerank")] * count, judged=ids(10 * count)))
    ),
    Case("packing stages", 1500, partial(_stages, each=lambda place: stage("packing", ids(10)))),
    Case(
        "packing stages that lost it",
        500,
        partial(_stages, each=lambda place: stage("packing", (f"d{place}",)), cutoff=1),
    ),
    Case(
        "packing stages with labels",
        500,
        partial(_stages, each=lambda place: stage("packing", ("a",), labels=(f"S{place % 9}",))),
    ),
    Case("stages after one ranking", 400, _ranked_once),
    Case(
        "rounds",
        500,
        partial(_stages, each=lambda place: stage(("vector", "packing")[place % 2], ("a",), round=1 + place // 2)),
    ),
    Case(
        "rounds before one packing",
        500,
        lambda count: judged(
            record(
                [
                    *(stage("vector", (f"d{place}",), round=place + 1) for place in range(count)),
                    stage("packing", ("a",)),
                ]
            )
        ),
    ),
    Case(
        "sources of one fusion",
        500,
        lambda count: judged(
            record([*(stage("vector", (f"d{place}",)) for place in range(count)), stage("fusion", ("a",))])
        ),
    ),
    Case("sources that hold it together", 400, _arms),
    Case("readers after sources", 300, _readers),
    Case(
        "readers with labels",
        500,
        lambda count: _stages(
            count,
            stage("packing", ids(9), labels=ids(9, "S")),
            each=lambda place: stage("reader", ("d1", "d2"), citations=("S1", "S7")),
        ),
    ),
    Case(
        "names of feeds",
        5000,
        lambda count: judged(
            record(
                [
                    *(stage("vector", ("a",), name=f"n{place}") for place in range(50)),
                    stage("fusion", ("a",), fed_by=ids(count, "n")),
                ]
            )
        ),
    ),
    Case(
        "expected stages",
        3000,
        lambda count: judged(
            record([stage("vector", ("a",)), stage("packing", ("b",))], expected=("vector", *ids(count), "packing"))
        ),
    ),
    Case("late stages", 700, partial(_stages, each=lambda place: stage("rerank", end_ns=None))),
    Case("failed stages", 700, partial(_stages, each=lambda place: stage("packing", None, failed=True))),
    Case(
        "findings",
        500,
        partial(_stages, each=lambda place: stage("rerank", ("a", "a", f"d{place}"), input=("b",), fallback=True)),
    ),
    Case("stages of ours beside others'", 400, _foreign),
    Case("nested wrappers", 500, partial(_nested, kind=lambda place: "web")),
    Case("nested stages of many kinds", 500, partial(_nested, kind=lambda place: f"web{place}")),
    Case("retrievers of others', deep", 400, _inner_retrievers),
    Case("packing after an expansion", 400, _expanded),
    Case(
        "labels, all different",
        4000,
        lambda count: judged(
            record(
                [
                    stage("packing", ids(count), labels=ids(count, "S")),
                    stage("reader", ids(count), citations=ids(count, "S")),
                ]
            )
        ),
    ),
    Case(
        "labels, all the same",
        4000,
        lambda count: judged(
            record(
                [
                    stage("packing", ids(count), labels=("S",) * count),
                    stage("reader", ids(count), citations=("S",) * count),
                ]
            )
        ),
    ),
    Case(
        "scopes and tokens",
        5000,
        lambda count: judged(
            record([stage("packing", ids(count), scopes=("t",) * count, id_tokens=(0, 1) * (count // 2))], scope_id="u")
        ),
    ),
    Case("characters of IDs", 2000, _long_ids),
    Case("gains", 50_000, _measures),
    Case("members of one object, in a run", 2000, _memberships),
    Case("lines of a run", 300, partial(_lines, ids_of=3)),
    Case("lines of one record", 300, partial(_lines, ids_of=3, distinct=False)),
    Case("IDs of a line", 5000, lambda count: _lines(4, ids_of=count)),
    Case("objects of a resolver", 3000, _resolver),
]
"""What may be much in one handoff."""
