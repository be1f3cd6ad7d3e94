"""What a reader is shown. Passages have no numbers, so that taking one away leaves every other byte as it was."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

INSTRUCTION: Final = (
    "Answer the question from the passages. Reply with the answer alone: a name, a date, a number or a few words,"
    " without a sentence around it."
)
"""What a language model is asked to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A passage that a reader is shown.

    Args:
        id: Its page's ID.
        title: The page's title.
        text: The page's text.
    """

    id: str
    title: str
    text: str

    @property
    def rendered(self) -> str:
        """What a prompt holds of it."""
        return f"{self.title}: {self.text}"


def render(question: str, passages: Sequence[Passage]) -> str:
    """Return the prompt: the passages in their order, then the question."""
    return "\n\n".join([*(passage.rendered for passage in passages), f"Question: {question}"])
