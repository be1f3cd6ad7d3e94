"""Which stages feed which, where retrievers over others have arms of several stages.

By itself a stage is taken to be fed by the one before it, which would be one of another arm.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from langchain_core.retrievers import BaseRetriever

from rop_otel.instrumenting import kinds as stage_kinds
from rop_otel_langchain.kinds import Kinds


class Fed(NamedTuple):
    """How a stage stands among others.

    Args:
        name: Its own name; None: it needs none.
        fed_by: The names of those that feed it; none: the one before it.
    """

    name: str | None
    fed_by: tuple[str, ...] = ()


def plan(fusion: Any, kinds: Kinds) -> dict[int, Fed] | None:
    """Return how the stages of a retriever over several others feed each other, by the identity of their components.

    Returns:
        None where each arm is one source, so that the usual rule holds, or where an arm's last stage is not known.
    """
    arms = getattr(fusion, "retrievers", None)
    if not isinstance(arms, list) or all(is_source(arm, kinds) for arm in arms):
        return None
    planned: dict[int, Fed] = {}
    return planned if _add(planned, fusion, "", kinds) else None


def is_source(arm: Any, kinds: Kinds) -> bool:
    """Return whether a retriever is one stage by itself, and takes nothing from others."""
    kind = kinds.of(arm) if isinstance(arm, BaseRetriever) else None
    return kind is not None and stage_kinds.is_source(kind)


def _add(planned: dict[int, Fed], part: Any, path: str, kinds: Kinds) -> str | None:
    """Plan what one arm is made of, and return the name of its last stage; None where that is not known.

    Args:
        planned: Is added to.
        part: The arm.
        path: Numbers of the arms that lead to it.
        kinds: Knows the kind of each component.
    """
    name = f"{path} {type(part).__name__}".strip()
    ends: list[str | None] = []
    base, compressor = getattr(part, "base_retriever", None), getattr(part, "base_compressor", None)
    if base is not None and compressor is not None and kinds.of(part) is None:
        end = _add(planned, base, path, kinds)
        for place, each in enumerate(_steps(compressor), 1):
            if end is None:
                return None
            name = f"{path} {type(each).__name__} {place}"
            planned[id(each)] = Fed(name, (end,))
            end = name
        return end
    if not is_source(part, kinds):
        arms = getattr(part, "retrievers", None)
        if not isinstance(arms, list) or not arms:
            return None
        ends = [_add(planned, arm, f"{path}.{place}".strip("."), kinds) for place, arm in enumerate(arms, 1)]
    known = tuple(end for end in ends if end is not None)
    planned[id(part)] = Fed(name, known)
    return name if len(known) == len(ends) else None


def _steps(compressor: Any) -> Iterator[Any]:
    inner = getattr(compressor, "transformers", None)
    if isinstance(inner, list):
        for each in inner:
            yield from _steps(each)
    else:
        yield compressor
