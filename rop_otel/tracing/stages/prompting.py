"""What a prompt shows of the documents that were packed into it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias, TypedDict

from rop_otel.core.prompt import Labelled, labels_of, passages_in

TextWhere: TypeAlias = str | Callable[[Any], str | None] | None
"""Where a document has its text: a name or a callable; None: the usual names."""

_USUAL: Final = ("page_content", "content", "text")


class ShownIn(TypedDict, total=False):
    """What helps to find documents in a prompt.

    Args:
        text: Where a document has its text: a key or an attribute, or a callable; None: ``page_content``, ``content``
            or ``text``.
        beside: What else the prompt holds, such as the question and the history: its words do not count as a
            document's.
        label_pattern: How a passage is labelled: its first group, else all of it, is the label; None: the usual forms.
        tokens, token_budget: Of the prompt's documents, as for ``returned()``.
    """

    text: TextWhere
    beside: Iterable[str]
    label_pattern: re.Pattern[str] | None
    tokens: int | None
    token_budget: int | None


class Prompted(NamedTuple):
    """What a prompt shows.

    Args:
        documents: Those that it holds, in its order; all of them, where it holds none.
        shares: How much of the text of each it holds; 0 for all where it holds none.
        labels: The label of each; None where not each has one.
    """

    documents: list[object]
    shares: list[float]
    labels: tuple[str, ...] | None

    @property
    def basis(self) -> str:
        """How the list is known."""
        return "prompt" if any(self.shares) or not self.shares else "unseen"


def look(
    prompts: Iterable[str],
    documents: Sequence[object],
    ids: Sequence[str],
    *,
    text: TextWhere = None,
    beside: Iterable[str] = (),
    label_pattern: re.Pattern[str] | None = None,
    whole: Sequence[object] = (),
) -> Prompted | None:
    """Return what prompts show of documents; None if this cannot be decided, or if no document has a text.

    Args:
        prompts: That a model was asked with, read one after the other.
        documents: That were handed to what made them.
        ids: Of the documents, as far as they are known, then of those in ``whole``.
        text: See :class:`ShownIn`, as for what follows.
        beside: Likewise.
        label_pattern: Likewise.
        whole: Documents that are shown only where their whole text is.
    """
    everything = [*documents, *whole]
    if not everything:
        return Prompted([], [], None)
    texts = [_text(document, text) for document in everything]
    if not any(texts):
        return None
    passages = passages_in(prompts, texts[: len(documents)], beside=beside, whole=texts[len(documents) :])
    if passages is None:
        return None
    if not passages:
        return Prompted(list(documents), [0.0] * len(documents), None)
    known = dict(enumerate(ids))
    labelled = [Labelled(each.before, texts[each.place], known.get(each.place, "")) for each in passages]
    shown = [everything[each.place] for each in passages]
    return Prompted(shown, [each.share for each in passages], labels_of(labelled, pattern=label_pattern))


def _text(document: object, where: TextWhere) -> str:
    """Return the text of a document, empty where it has none."""
    if callable(where):
        found = where(document)
    elif isinstance(document, str) and where is None:
        found = document
    else:
        names = _USUAL if where is None else (where,)
        held = (
            document.get(name) if isinstance(document, Mapping) else getattr(document, name, None) for name in names
        )
        found = next((each for each in held if isinstance(each, str)), None)
    return found if isinstance(found, str) else ""
