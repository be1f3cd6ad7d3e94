"""An application that is watched both ways: it serves /metrics and sends OTLP.

It answers each line with its port: at once for the line ``port``, else after ten questions, or ten thousand stages of
as many kinds for the line ``odd``.
"""

from __future__ import annotations

import json
import sys

import rop_otel as rop


def answer(number: int) -> None:
    """Answer a question; in some handoffs the selected object is lost, late, or wrongly cited."""
    with rop.handoff("docs", judged=["d1", "d3"], scope="library") as handoff:
        handoff.select("d1")
        for kind in ("vector", "lexical"):
            with rop.using_stage(kind) as stage:
                stage.returned(["d2", "d1", "d3"], scores=[0.9, 0.5, 0.1])
        with rop.using_stage("fusion") as stage:
            stage.returned(["d1", "d2", "d3"])
        kept = ["d2", "d3"] if number % 3 == 0 else ["d1", "d2"]
        with rop.using_stage("packing") as stage:
            stage.returned(kept, labels=["S1", "S2"], tokens=70, token_budget=100)
        handoff.answered("as [S1] says" if number % 2 else "as [S9] says", sources=kept)


def run_odd_stages() -> None:
    """Run a handoff with a name that no label would have, and many stages, each of a kind of its own."""
    with rop.handoff('say "docs" and \\ all') as handoff:
        handoff.select("d1")
        for number in range(10_000):
            with rop.using_stage(f"kind {number}") as stage:
                stage.returned(["d1"])


def main() -> None:
    """Do as each line says."""
    port = rop.configure(service_name="docs-rag", metrics_port=0).metrics_port
    for line in sys.stdin:
        match line.strip():
            case "port":
                pass
            case "odd":
                run_odd_stages()
            case _:
                for number in range(10):
                    answer(number)
        sys.stdout.write(f"{json.dumps(port)}\n")
        sys.stdout.flush()
    rop.shutdown()


if __name__ == "__main__":
    main()
