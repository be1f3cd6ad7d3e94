"""Blocks: a stage that is no function, and a round of a handoff that retrieves several times."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Self, Unpack, cast

from opentelemetry.context import Context

from rop_otel.errors import UsageError
from rop_otel.safety import raise_if_delivered
from rop_otel.tracing.position.context_position import (
    Position,
    current_context,
    current_position,
    enter,
    moved,
    put_back,
)
from rop_otel.tracing.results.metadata_id import ByKeys
from rop_otel.tracing.results.scalars import as_count, plainly
from rop_otel.tracing.running.diagnostics import Problem
from rop_otel.tracing.running.runtime import current
from rop_otel.tracing.stages.live_stage import LiveStage
from rop_otel.tracing.stages.noop_stage import NOOP_STAGE
from rop_otel.tracing.stages.spec import Described, Spec, cached_spec, make_spec, names_in
from rop_otel.tracing.stages.stage_protocol import Stage


def using_stage(
    kind: str,
    *,
    input: object = None,  # noqa: A002 - the contract's word
    **said: Unpack[Described],
) -> Stage:
    """Return a stage for a ``with`` block. Inside the block, its ``returned()`` reports what it returns.

    A wrong argument raises in strict mode only. Otherwise it is counted and logged once, and the block is not
    monitored.

    Args:
        kind: As for :func:`rop_otel.stage`, like all further arguments.
        input: The documents that it is handed; None: it counts as handed what feeds it.
        said: See :class:`~rop_otel.tracing.stages.spec.Described`.
    """
    runtime = current()
    if not runtime.enabled:
        return NOOP_STAGE
    try:
        where = (said.get("id"), said.get("score"), said.get("scope"))
        lasting = all(each is None or isinstance(each, str | ByKeys) for each in where)
        make: Callable[..., Spec] = cached_spec if lasting else make_spec
        spec = make(kind, **{**said, "fed_by": names_in(said.get("fed_by", ()))})
    except Exception as error:  # noqa: BLE001 - the arguments' own code runs here
        raise_if_delivered(error)
        wrong = str(error) if isinstance(error, UsageError) else f"its arguments raise {type(error).__name__}"
        runtime.diagnostics.misuse(Problem.STAGE, "using_stage()", wrong)
        return NOOP_STAGE
    return LiveStage(spec, runtime, handed=input)


def running_stage() -> Stage:
    """Return the stage in which the caller runs, else one that does nothing."""
    return cast("Stage | None", current_position().stage) or NOOP_STAGE


class using_round:  # noqa: N801 - used like a function
    """A ``with`` block whose stages belong to one round of the handoff.

    Args:
        number: Its number, from 1.
    """

    __slots__ = ("_before", "_context", "_number")

    def __init__(self, number: int) -> None:
        self._number = as_count(number)
        runtime = current()
        if runtime.enabled and (self._number is None or self._number < 1):
            self._number = None
            wrong = f"round {plainly(number)} must be a whole number of at least 1"
            message = f"{wrong}; its stages count for the whole handoff"
            runtime.diagnostics.misuse(Problem.STAGE, "using_round()", message)

    def __enter__(self) -> Self:
        self._before: Context = current_context()
        at = current_position(self._before)
        self._context = moved(self._before, Position(at.handoff, at.stage, self._number))
        enter(self._context, self._before)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        put_back(self._context, self._before)
