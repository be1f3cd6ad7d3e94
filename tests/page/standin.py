"""A set of assessed handoffs made by hand, with everything that a page has to draw: no pipeline runs for it."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

Doc = dict[str, Any]

START: Final = 1_780_000_000.0
MEASURES: Final = ("recall@1", "recall@3", "recall@5", "recall@10", "rr", "ndcg@5", "ndcg@10", "precision@5")
CAUSES: Final = {
    "silent_cut": ("Code between two stages cut the list; no stage shows it.", "Find the slice, or decorate that code."),
    "reranked_away": ("The reranker put it too low.", "Keep more; check which reranker really runs."),
    "over_budget": ("Packing left it out.", "Pack by score, not by position; let it take more."),
    "never_retrieved": ("No stage returned it, or was handed it.", "Compare the IDs first."),
    "below_cutoff": ("It was shown, but after the first places.", "Look at the ranks before and after that stage."),
    "unobserved_stage": ("It was lost where a stage was not seen.", "Decorate the stage; say where its IDs are."),
}
FINDINGS: Final = {
    "silent_cut": ("warning", "A stage was handed less than the stage before returned.", "Find the slice between them."),
    "label_misattributed": ("error", "A label leads to another source.", "Send labels with the sources."),
    "citation_unresolved": ("error", "The answer cites a label that nobody showed.", "Check the prompt."),
    "scope_leak": ("error", "A passage of another library came through.", "Repair the filter."),
    "stage_failed": ("error", "A stage raised.", "Find what raised."),
    "ids_unreadable": ("error", "No ID can be read in what a stage returned.", "Return a list."),
    "stage_late": ("warning", "A stage ended after its handoff; it is left out.", "Wait for it."),
    "fusion_below_arm": ("info", "Fusion is worse than its best arm alone.", "Weigh the arms."),
    "passage_cut": ("warning", "The prompt holds only a part of a passage.", "Look for what clips passages."),
}
VERDICTS: Final = {
    "PASS": "The selected object was shown to the reader.",
    "FAIL": "The selected object was not shown, for certain.",
    "UNVERIFIABLE": "What the reader was shown is not known well enough.",
    "SELECTOR_ERROR": "A selection was due and no usable one came.",
    "NOT_APPLICABLE": "No selected object was required to reach the reader.",
    "RESOLUTION_ERROR": "The resolver does not know the selected object.",
    "DECLARATION_INVALID": "Mode, need, rule or cutoff is none of the contract's.",
}
STAGES: Final = "vector lexical fusion candidates rerank mmr expansion packing".split()


class Builder:
    """One handoff in the making.

    Args:
        place: Which of its set.
        record: Its record.
        selected, judged: IDs; None: nothing was selected, or judged.
    """

    def __init__(
        self, place: int, record: str, *, selected: Sequence[str] | None, judged: Sequence[str] | None = None
    ) -> None:
        self.place, self.record = place, record
        self.selected, self.judged = selected, judged
        self.stages: list[Doc] = []
        self.findings: list[Doc] = []
        self.labels: list[Doc] = []
        self.more: Doc = {}
        self.clock = 0.0

    def stage(self, kind: str, ids: Sequence[str] | None, *, feeds: Sequence[int] = (), **more: Any) -> int:
        """Add a stage and return its place; its lists follow from what feeds it."""
        place = len(self.stages)
        fed = list(dict.fromkeys(doc for feed in feeds for doc in self.stages[feed]["ids"] or ()))
        handed = more.get("input") if more.get("input") is not None else (fed if feeds else None)
        took = more.pop("took", 0.004 + 0.01 * (place % 3))
        listed = None if ids is None else list(ids)
        scored = _scores(listed, self.selected)
        self.stages.append(
            {
                "stage": kind, "name": None, "round": None, "place": place, "parent": None, "feeds": list(feeds),
                "status": "ok" if listed is not None else "unreadable", "reason": None,
                "ids": listed, "returned": None if listed is None else len(listed),
                "scores": None if listed is None else [round(1 - rank / (len(listed) + 7), 4) for rank in range(len(listed))],
                "scopes": None, "tokens": None, "shares": None, "labels": None, "top_k": None, "input": None,
                "dropped": None if handed is None or listed is None else [doc for doc in handed if doc not in set(listed)],
                "added": None if handed is None or listed is None else [doc for doc in listed if doc not in set(handed)],
                "start": round(self.clock, 6), "duration": round(took, 6),
                "implementation": None, "fallback": False, "query_form": None,
                "selected": scored, "judged": _scores(listed, self.judged), **more,
            }
        )  # fmt: skip
        self.clock += took
        return place

    def finding(self, code: str, place: int | None, message: str, **more: Any) -> None:
        """Add a finding at a stage."""
        at = self.stages[place] if place is not None else {"stage": "rerank", "name": None, "round": None}
        severity, _, advice = FINDINGS[code]
        self.findings.append(
            {
                "code": code, "severity": severity, "stage": at["stage"], "name": at["name"], "round": at["round"],
                "ids": [], "labels": [], "message": message, "try": advice, "place": place, **more,
            }
        )  # fmt: skip

    def done(self, shown: Sequence[int], *, verdict: str | None = None, loss: Doc | None = None, **more: Any) -> Doc:
        """Return the handoff's detail."""
        ids = [doc for place in shown for doc in self.stages[place]["ids"] or ()]
        chosen = set(self.selected or ())
        rank = next((place for place, doc in enumerate(ids, 1) if doc in chosen), None)
        verdict = verdict or ("PASS" if rank else "FAIL")
        at = self.stages[loss["place"]] if loss and isinstance(loss["place"], int) else {}
        judged = list(self.judged or ())
        lost = [doc for doc in judged if doc not in ids]
        if loss:
            says, advice = CAUSES[loss["cause"]]
            loss = {"says": f"{(self.selected or ['?'])[0]} was lost at {at.get('stage')}: {says}", "try": advice} | loss
        return {
            "handoff_id": f"{self.place:032x}-{self.place:016x}", "trace_id": f"{self.place * 7919:032x}",
            "handoff_name": "docs-qa", "service": "docs-rag", "record_id": self.record, "run_id": None, "mode": "hard",
            "verdict": verdict, "note": None, "selected_rank": rank, "dropped_at": at.get("stage"),
            "dropped_at_name": at.get("name"), "dropped_at_round": at.get("round"),
            "drop_cause": loss["cause"] if loss else None, "findings": self.findings,
            "agreement": bool(chosen & set(judged)) if judged and chosen else None,
            "joint": _joint(bool(rank), any(doc in ids for doc in judged)) if judged and chosen else None,
            "judged_losses": [
                {"id": doc, "dropped_at": "rerank", "dropped_at_name": None, "dropped_at_round": None,
                 "drop_cause": "reranked_away", "says": f"{doc} was lost at rerank.", "try": "Keep more.", "place": None}
                for doc in lost
            ],
            "selected": None if self.selected is None else list(self.selected), "judged": judged or None,
            "selected_ids": sorted(chosen), "judged_ids": judged, "cutoff": None, "rule": "any", "need": "one",
            "scope": None, "start": START + self.place * 1.5, "duration": round(self.clock + 0.02, 6), "loss": loss,
            "stages": self.stages, "labels": self.labels,
            "shown": {"ids": ids, "basis": "recorded", "selected": {}, "judged": {}, "hollow": [False] * len(ids),
                      "places": list(shown)},
            "test": f"def test_{self.record}_reaches_the_reader():\n    ...\n",
            "spans": {"resourceSpans": []}, **self.more, **more,
        }  # fmt: skip


def _scores(ids: Sequence[str] | None, wanted: Sequence[str] | None) -> Doc:
    if ids is None or not wanted:
        return {}
    rank = next((place for place, doc in enumerate(ids, 1) if doc in wanted), 0)
    return {measure: (1 / rank if rank else 0.0) if measure == "rr" else float(0 < rank <= 5) for measure in MEASURES}


def _joint(selected: bool, judged: bool) -> str:
    return {(1, 1): "both", (1, 0): "selected_only", (0, 1): "judged_only", (0, 0): "neither"}[selected, judged]


def ordinary(place: int, *, fault: bool = False, size: int = 50, seed: int = 0) -> Doc:
    """Return a handoff of a pipeline of eight stages and a reader; a fault cuts the list between reranking and MMR."""
    chance = random.Random(f"{seed}/{place}")
    names = [f"library.module{number % 9}.function{number}#{number % 3}" for number in range(size * 2)]
    chosen = names[chance.randrange(min(size, 14))]
    made = Builder(place, f"q{place:03d}", selected=[chosen], judged=[chosen, names[size // 3]])
    vector = made.stage("vector", _near(names[:size], chance, 6), query_form="question", top_k=size, took=0.021)
    lexical = made.stage("lexical", _near(names[size // 3 : size // 3 + size], chance, 9), top_k=size, took=0.008)
    both = list(dict.fromkeys([*made.stages[vector]["ids"], *made.stages[lexical]["ids"]]))
    fusion = made.stage("fusion", _near(both, chance, 5), feeds=[vector, lexical])
    candidates = made.stage("candidates", made.stages[fusion]["ids"][:30], feeds=[fusion])
    ranked = _near(made.stages[candidates]["ids"], chance, 8)
    rerank = made.stage("rerank", ranked[:12], feeds=[candidates], implementation="late interaction", took=0.09)
    handed = ranked[:4] if fault else ranked[:12]
    mmr = made.stage("mmr", _near(handed, chance, 2)[:6], feeds=[rerank], input=handed)
    kept = made.stages[mmr]["ids"]
    expansion = made.stage("expansion", [*kept, "library.module1#0", "library.module2#0"], feeds=[mmr])
    labels = [f"S{number}" for number in range(1, 7)]
    packed = made.stages[expansion]["ids"][:6]
    packing = made.stage("packing", packed, feeds=[expansion], labels=labels[: len(packed)],
                         tokens=[chance.randrange(40, 240) for _ in packed], context_tokens=900, token_budget=1200)  # fmt: skip
    made.stage("reader", packed, citations=["S1", "S2", "S1"], labels=labels[: len(packed)], took=0.4, attaches="shown")
    made.labels = [
        {"label": label, "shown": doc, "attached": doc, "cited": label in ("S1", "S2"),
         "outcome": "resolved" if label in ("S1", "S2") else None}
        for label, doc in zip(labels, packed, strict=False)
    ]  # fmt: skip
    if fault:
        lacking = ranked[4:12]
        made.finding("silent_cut", mmr, f"mmr was not handed {lacking[0]!r} and {len(lacking) - 1} more, though the"
                     " stage before returned it", ids=sorted(lacking))  # fmt: skip
    return made.done([packing], loss=None if chosen in packed else _loss(made, chosen))


def _near(ids: Sequence[str], chance: random.Random, far: float) -> list[str]:
    """Return IDs in about the same order."""
    return [doc for _, doc in sorted((place + chance.gauss(0, far), doc) for place, doc in enumerate(ids))]


def _loss(made: Builder, doc: str) -> Doc:
    """Say where a document was last seen, as ``assess()`` would for this pipeline."""
    holds = [stage["place"] for stage in made.stages if stage["stage"] != "reader" and doc in (stage["ids"] or ())]
    if not holds:
        return {"place": None, "cause": "never_retrieved"}
    after = made.stages[max(holds) + 1]
    cut = after["input"] is not None and doc not in after["input"]
    return {"place": after["place"], "cause": "silent_cut" if cut else "reranked_away"}


def row(detail: Doc) -> Doc:
    """Return the line of a handoff in the table."""
    same = """handoff_id trace_id handoff_name service record_id run_id verdict mode dropped_at dropped_at_name
    dropped_at_round drop_cause selected judged selected_rank start duration agreement joint""".split()
    outcomes = Counter(label["outcome"] for label in detail["labels"] if label["cited"])
    return {name: detail[name] for name in same} | {
        "findings": [[finding["code"], finding["stage"]] for finding in detail["findings"]],
        "selected_at": _held(detail, detail["selected_ids"]), "judged_at": _held(detail, detail["judged_ids"]),
        "judged_losses": [[lost["dropped_at"], None, None, lost["drop_cause"]] for lost in detail["judged_losses"]],
        "citations": [outcomes[name] for name in ("resolved", "unresolved", "misattributed", "unattached")],
    }  # fmt: skip


def _held(detail: Doc, wanted: Sequence[str]) -> str:
    lists = {stage["stage"]: stage["ids"] for stage in detail["stages"]} | {"shown": detail["shown"]["ids"]}
    return "".join(
        "-" if lists.get(stage) is None or not wanted else str(int(any(doc in lists[stage] for doc in wanted)))
        for stage in (*STAGES, "shown")
    )


def summary(rows: Sequence[Doc], details: Sequence[Doc]) -> Doc:
    """Return the totals of a set."""
    lost = Counter((each["dropped_at"], each["drop_cause"]) for each in rows if each["drop_cause"])
    judged = Counter((each[0], each[3]) for one in rows for each in one["judged_losses"])
    found = Counter(tuple(each) for one in rows for each in one["findings"])
    cited = [sum(one["citations"][place] for one in rows) for place in range(4)]

    def kept(place: int, field: str) -> Doc:
        marks = [one[field][place] for one in rows]
        return {"of": len(marks) - marks.count("-"), "kept": marks.count("1")}

    return {
        "verdicts": dict(Counter(each["verdict"] for each in rows)),
        "survival": [
            {"stage": stage, "name": None, "round": None, "selected": kept(place, "selected_at"),
             "judged": kept(place, "judged_at")}
            for place, stage in enumerate((*STAGES, "shown"))
        ],
        "losses": [
            {"stage": key[0], "name": None, "round": None, "cause": key[1], "count": lost[key], "judged": judged[key]}
            for key in sorted(lost | judged, key=lambda key: (-lost[key], -judged[key], str(key)))
        ],
        "findings": [
            {"code": code, "severity": FINDINGS[code][0], "stage": stage, "name": None, "count": count}
            for (code, stage), count in found.most_common()
        ],
        "scores": [_mean(stage, details) for stage in STAGES],
        "citations": dict(zip(("resolved", "unresolved", "misattributed", "unattached"), cited, strict=True)),
        "orphan_stages": 2, "incomplete_handoffs": ["h-without-a-span"], "duplicate_handoffs": [],
        "absent_resolvers": [], "run": None,
    }  # fmt: skip


def _mean(kind: str, details: Sequence[Doc]) -> Doc:
    stages = [stage for each in details for stage in each["stages"] if stage["stage"] == kind]
    sizes = [stage["returned"] for stage in stages if stage["returned"] is not None]
    means = {
        target: {
            measure: sum(values) / len(values)
            for measure in MEASURES
            if (values := [stage[target][measure] for stage in stages if measure in stage[target]])
        }
        for target in ("selected", "judged")
    }
    return {"stage": kind, "name": None, "round": None, "returned": sum(sizes) / max(1, len(sizes)), **means}
