"""A small search over six notes, watched: one note arrives, one is lost, and one answer cites the wrong note."""

from __future__ import annotations

from dataclasses import dataclass

import rop_otel as rop

NOTES = {
    "timeouts": "wait_for waits for a task and cancels it after a timeout",
    "queues": "a queue hands work from one task to another and lets a task wait",
    "locks": "a lock lets one task in at a time and makes the others wait",
    "gather": "gather runs tasks together and waits for all",
    "shield": "shield protects a task from being cancelled",
    "runner": "a runner starts an event loop and closes it",
}
SHOWN = 2


@dataclass
class Hit:
    """A note that was found."""

    id: str
    score: float


@rop.stage("lexical")
def search(question: str) -> list[Hit]:
    """Find the notes that share words with the question."""
    words = set(question.lower().split())
    found = [Hit(name, len(words & set(text.split()))) for name, text in NOTES.items()]
    return sorted((hit for hit in found if hit.score), key=lambda hit: -hit.score)


@rop.stage("rerank", input_arg="hits")
def rerank(hits: list[Hit]) -> list[Hit]:
    """Prefer short notes."""
    return sorted((Hit(hit.id, hit.score / len(NOTES[hit.id].split())) for hit in hits), key=lambda hit: -hit.score)


def ask(question: str, selected: str, *, sorted_sources: bool = False) -> rop.Assessment:
    """Answer one question in a handoff of its own."""
    with rop.handoff("notes", expected=["lexical", "rerank", "packing"]) as handoff:
        handoff.select(selected)
        hits = rerank(search(question))
        shown = hits[:SHOWN]
        labels = [f"S{place}" for place, _ in enumerate(shown, 1)]
        with rop.using_stage("packing", input=hits) as packing:
            packing.returned(shown, labels=labels)
        sources = sorted(shown, key=lambda hit: hit.id) if sorted_sources else shown
        handoff.answered(f"See {NOTES[shown[0].id]!r} [S1].", sources=sources)
    return handoff.assessment


def main() -> None:
    """Ask three questions."""
    rop.configure(service_name="notes")
    print(ask("a task after a timeout", "timeouts"))
    print(ask("makes a task wait", "timeouts"))
    print(ask("task and timeout", "timeouts", sorted_sources=True))


if __name__ == "__main__":
    main()
