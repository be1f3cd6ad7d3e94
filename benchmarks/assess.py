"""The cost of the checks alone: ``assess()`` over the plain spans of the handoff, stage scores against pytrec_eval."""

from __future__ import annotations

import json
import os
import random
import statistics
import subprocess
import sys
from collections.abc import Iterator

import pytrec_eval
from instrumented import by_hand, provider
from interleave import microseconds, report
from overhead import Discarding
from workload import CUTOFF, DOCUMENTS, JUDGED, SELECTED, Step, steps

from rop_otel.core.handoff import HandoffRecord, StageRecord, assess
from rop_otel.core.handoff.scores import Judgments, judged_scores

CALLS = 50
SEEDS = 7
SCORING = "--scoring"
TARGETS = {"assess_over_plain": "<= 0.25", "pytrec_over_scores": ">= 15"}
PYTREC_MEASURES = {"recall.1,3,5,10", "recip_rank", "ndcg_cut.5,10", "P.5"}


def main() -> None:
    """Measure and print."""
    run = steps()
    record = _record(run)
    times = microseconds(
        {
            "assess": lambda: assess(record),
            "plain OpenTelemetry": by_hand(run, provider(Discarding()).get_tracer("by hand")),
        },
        calls=CALLS,
    )
    times |= _scoring_over_seeds()
    report(
        "The checks alone",
        times,
        {
            "assess_over_plain": times["assess"] / times["plain OpenTelemetry"],
            "pytrec_over_scores": times["pytrec_eval"] / times["stage scores"],
        },
        TARGETS,
    )


def _record(run: list[Step]) -> HandoffRecord:
    stages = [
        StageRecord(
            kind=step.kind,
            returned=tuple(hit.id for hit in step.returned),
            scores=tuple(hit.score for hit in step.returned),
            input=None if step.handed is None else tuple(hit.id for hit in step.handed),
            span_id=str(place),
            start_ns=place,
            end_ns=place + 1,
        )
        for place, step in enumerate(run)
    ]
    return HandoffRecord(
        name="docs-qa",
        handoff_id="1",
        selected=(SELECTED,),
        judged=JUDGED,
        cutoff=CUTOFF,
        stages=tuple(stages),
        start_ns=0,
        end_ns=len(stages),
    )


def _scoring_over_seeds() -> dict[str, float]:
    """Return the median times of :func:`_scoring` over processes of other hash seeds.

    pytrec_eval keeps its measures in a set, whose order costs it up to twice the time.
    """
    runs = []
    for seed in range(SEEDS):
        environment = {**os.environ, "PYTHONHASHSEED": str(seed)}
        command = [sys.executable, __file__, SCORING]
        printed = subprocess.run(command, check=True, capture_output=True, env=environment).stdout
        runs.append(json.loads(printed))
    return {name: statistics.median(run[name] for run in runs) for name in runs[0]}


def _scoring() -> dict[str, float]:
    """Return the time of scoring one list, from strings that were just decoded, by each library."""
    draw = random.Random(5)
    names = [f"doc-{number:04}" for number in range(DOCUMENTS)]
    encoded = [json.dumps(draw.sample(names, DOCUMENTS)).encode() for _ in range(64)]
    decoded: Iterator[list[str]] = iter(())
    qrels = {"q": dict.fromkeys(JUDGED, 1)}
    judgments = Judgments(JUDGED)

    def lists() -> list[str]:
        nonlocal decoded
        fresh = next(decoded, None)
        if fresh is None:
            decoded = iter([json.loads(row) for row in encoded])
            fresh = next(decoded)
        return fresh

    def ours() -> None:
        ids = lists()
        judged_scores(judgments, ids, held=frozenset(ids), cut=False)

    def theirs() -> None:
        run = {"q": {raw: float(DOCUMENTS - place) for place, raw in enumerate(lists())}}
        pytrec_eval.RelevanceEvaluator(qrels, PYTREC_MEASURES).evaluate(run)

    times = microseconds({"ours": ours, "theirs": theirs, "decoding": lists}, calls=640)
    return {
        "stage scores": times["ours"] - times["decoding"],
        "pytrec_eval": times["theirs"] - times["decoding"],
    }


if __name__ == "__main__":
    if SCORING in sys.argv:
        print(json.dumps(_scoring()))
    else:
        main()
