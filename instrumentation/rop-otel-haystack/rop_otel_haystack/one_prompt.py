"""One prompt: what it says, what it was made of, and where it stands among others."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, Final

from opentelemetry.context import Context

from rop_otel_haystack.plan import reachable

_SAID: Final = 6
"""A reply of so many words stands in no prompt by chance."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Prompt:
    """A prompt that was made, or that a model was asked with.

    Args:
        texts: Of the prompt, or of its messages.
        text: All of them.
        pictures: Whether it holds what is no text.
        what: ``made`` or ``asked``.
        node: Name of the component.
        name: Of the stage: that of the component which made it of documents.
        implementation: Class of that.
        fallback: Class of another model than the first one that was to be asked; None: it was that one.
        fed_by: Names of the stages that feed it.
        behind: Whether it comes behind a loop that retrieves.
        graph: Of the pipeline; None: the application runs the component itself.
        run: Of the pipeline.
        within: The agent, or the call of a tool, in which it was.
        context: Where it was.
        times: The moments when its component began and ended.
        round: Of the component's loop.
        lists: The documents that it was made of; none: nobody knows.
        beside: What else it was made of, which is no sign of a document.
        given: All texts that it was made of.
        replies: What the model replied.
        error: That the model raised: nobody read the prompt.
        asks_for_more: Whether something that retrieves may come behind it.
        at_hand: What stages had returned by then, and no other had taken; where nobody knows what it was made of.
        sources: How often something had retrieved by then.
    """

    texts: tuple[str, ...]
    text: str
    pictures: bool
    what: str
    node: str
    name: str
    implementation: str
    fallback: str | None
    fed_by: tuple[str, ...]
    behind: bool
    graph: Any
    run: Hashable
    within: object
    context: Context
    times: tuple[int, int]
    round: int | None
    lists: tuple[list[Any], ...]
    beside: tuple[str, ...]
    given: tuple[str, ...]
    replies: tuple[str, ...]
    error: BaseException | None
    asks_for_more: bool
    at_hand: tuple[list[Any], ...]
    sources: int

    @property
    def documents(self) -> list[Any]:
        """What it was made of, or may have been made of, as one list."""
        return [document for each in self.lists or self.at_hand for document in each]

    def comes_before(self, other: Prompt) -> bool:
        """Return whether a later prompt takes its place, unless that only takes up its reply."""
        if self.within is not other.within:
            return False
        if self.run is not other.run:
            return self.graph is None or self.graph is not other.graph
        if self.node == other.node or (self.round and other.round):
            return self.round == other.round and self.leads_to(other)
        return self.leads_to(other)

    def leads_to(self, other: Prompt) -> bool:
        """Return whether what its component hands on may reach that of another one, or is the same one's."""
        if self.node == other.node:
            return True
        return self.graph is None or other.node in reachable(self.graph, self.node)

    def is_again(self, other: Prompt) -> bool:
        """Return whether the same component of a pipeline's run is asked again."""
        return self.graph is not None and self.run is other.run and self.node == other.node

    def takes_up(self, other: Prompt) -> bool:
        """Return whether it holds what the model replied to another one."""
        return any(
            reply in self.text and (len(reply.split()) >= _SAID or any(reply in each for each in self.given))
            for each in other.replies
            if (reply := each.strip())
        )
