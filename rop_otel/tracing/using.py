"""Blocks: a stage that is no function, and a round of a handoff that retrieves several times."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Self

from opentelemetry.context import Context

from rop_otel.errors import UsageError
from rop_otel.safety import raise_if_delivered
from rop_otel.tracing.extracting import IdWhere, Where
from rop_otel.tracing.here import Here, current_context, enter, here, moved, put_back
from rop_otel.tracing.keyed import ByKeys
from rop_otel.tracing.mishaps import Mishap
from rop_otel.tracing.runtime import current
from rop_otel.tracing.scalars import as_count, plainly
from rop_otel.tracing.silent import SILENT_STAGE
from rop_otel.tracing.spec import Spec, cached_spec, make_spec, names_in
from rop_otel.tracing.stage import Stage


def using_stage(
    kind: str,
    *,
    input: object = None,  # noqa: A002 - the contract's word
    name: str | None = None,
    source: bool = False,
    fed_by: str | Sequence[str] = (),
    id: IdWhere = None,  # noqa: A002 - the word that users know
    score: Where = None,
    scope: Where = None,
    data_source: str | None = None,
    query_form: str | None = None,
    implementation: str | None = None,
) -> Stage:
    """Return a stage for a ``with`` block, in which its ``returned()`` tells what it returns.

    A wrong argument does not raise, save in strict mode: it is counted and logged once, and the block is not monitored.

    Args:
        input: The documents that it is handed; None: it is taken to be handed what feeds it.
        kind: As for :func:`rop_otel.stage`, like all further arguments.
        name: Likewise.
        source: Likewise.
        fed_by: Likewise.
        id: Likewise.
        score: Likewise.
        scope: Likewise.
        data_source: Likewise.
        query_form: Likewise.
        implementation: Likewise.
    """
    runtime = current()
    if not runtime.enabled:
        return SILENT_STAGE
    try:
        lasting = all(where is None or isinstance(where, str | ByKeys) for where in (id, score, scope))
        make: Callable[..., Spec] = cached_spec if lasting else make_spec
        spec = make(
            kind,
            name=name,
            source=source,
            fed_by=names_in(fed_by),
            id=id,
            score=score,
            scope=scope,
            data_source=data_source,
            query_form=query_form,
            implementation=implementation,
        )
    except Exception as error:  # noqa: BLE001 - the arguments' own code runs here
        raise_if_delivered(error)
        wrong = str(error) if isinstance(error, UsageError) else f"its arguments raise {type(error).__name__}"
        runtime.mishaps.misuse(Mishap.STAGE, "using_stage()", wrong)
        return SILENT_STAGE
    return Stage(spec, runtime, handed=input)


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
            runtime.mishaps.misuse(Mishap.STAGE, "using_round()", message)

    def __enter__(self) -> Self:
        self._before: Context = current_context()
        at = here(self._before)
        self._context = moved(self._before, Here(at.handoff, at.stage, self._number))
        enter(self._context, self._before)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        put_back(self._context, self._before)
