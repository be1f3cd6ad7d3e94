"""What a prompt shows of documents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rop_otel.instrumenting import Prompted, Settings, guarded, look


def shown_by(
    texts: Sequence[str], documents: list[Any], settings: Settings, *, beside: Sequence[str] = (), more: bool = False
) -> Prompted | None:
    """Return what a prompt shows of documents; None where it cannot be decided.

    Args:
        texts: Of the prompt.
        documents: That it may show.
        settings: The user's.
        beside: What else it holds.
        more: Whether it holds what is no text. A document without any may be that.
    """
    if settings.shows == "rewritten":
        return Prompted(documents, [1.0] * len(documents), None)
    with guarded("Haystack pipeline", "no text could be read of its documents"):
        if more and not all(getattr(each, "content", None) for each in documents):
            return None
        id_of = settings.id or (lambda document: getattr(document, "id", None))
        ids = [str(id_of(each) or "") for each in documents]
        return look(texts, documents, ids, text="content", beside=beside, label_pattern=settings.label_pattern)
    return None


def labels_by_place(shown: Prompted, documents: list[Any]) -> tuple[str, ...] | None:
    """Return the numbers that references of Haystack mean, where a prompt writes none beside its passages.

    They are places among the documents. Where the prompt shows these in another order, or leaves out one before
    others, nobody knows what a model refers to, and the result is None.
    """
    alike = all(one is other for one, other in zip(shown.documents, documents, strict=False))
    return tuple(str(number) for number, _ in enumerate(shown.documents, 1)) if alike else None
