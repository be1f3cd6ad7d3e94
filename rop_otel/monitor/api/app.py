"""The API's paths."""

from __future__ import annotations

from typing import Annotated, Any, Final

from fastapi import Depends, FastAPI, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from pydantic import ValidationError
from starlette.convertors import StringConvertor, register_url_convertor
from starlette.exceptions import HTTPException

from rop_otel.monitor.api import shapes
from rop_otel.monitor.api.comparing import Side, compared
from rop_otel.monitor.api.filters import MOST_LISTED, Listed, SummaryFilters, filters_in, unique
from rop_otel.monitor.api.json_answers import answer, answered, failed, sentence
from rop_otel.monitor.api.stream import stream
from rop_otel.monitor.kept_handoffs import TooMuchError
from rop_otel.monitor.service import Monitor
from rop_otel.monitor.store import Wanted
from rop_otel.page.document import live_head
from rop_otel.version import installed_version

TITLE: Final = "rop-otel monitor"
_REFUSED: Final = {400: "A parameter is unknown or cannot be used.", 401: "The token is needed."}
_UNKNOWN: Final = {404: "None is kept with this ID."}
_TOO_MUCH: Final = {413: "It holds more than is shown."}
_FULL: Final = {503: "Too many look on already."}


class _Anything(StringConvertor):
    """An ID in a path: slashes and line ends may be in it, too."""

    regex = "(?s:.*)"


register_url_convertor("anything", _Anything())


def create_api(monitor: Monitor) -> FastAPI:
    """Return the API of a monitor. Its description is at ``/api/openapi.json``.

    Args:
        monitor: The service.
    """
    api = FastAPI(
        title=TITLE,
        version=installed_version(),
        openapi_url="/api/openapi.json",
        docs_url=None,
        redoc_url=None,
        dependencies=[Depends(_each_once)],
        exception_handlers=dict.fromkeys((RequestValidationError, HTTPException, Exception), failed),
    )
    _add_handoffs(api, monitor)
    _add_sets(api, monitor)
    _add_runs(api, monitor)
    api.openapi = _without_422(api.openapi)  # type: ignore[method-assign]
    return api


def _add_handoffs(api: FastAPI, monitor: Monitor) -> None:
    kept = monitor.kept

    @api.get("/api/head", responses=_answers(shapes.Head))
    async def head(request: Request) -> Response:
        """Return what the page reads first."""
        _takes_nothing(request)
        return answer({**live_head(title=TITLE), "live": True})

    @api.get("/api/handoffs", responses=_answers(shapes.Rows))
    async def handoffs(asked: Annotated[Listed, Query()]) -> Response:
        """Return a row for each handoff, the one that was settled last first.

        There may be fewer rows than asked for although `after` is no null: it goes on there.
        """
        return await answered(kept.rows, asked.wanted(), limit=asked.limit, after=asked.after or None)

    @api.get("/api/handoffs/{handoff_id:anything}", responses=_answers(shapes.Detail, _UNKNOWN, _TOO_MUCH))
    async def handoff(handoff_id: str, request: Request) -> Response:
        """Return all that is known of one handoff."""
        _takes_nothing(request)
        try:
            return await answered(kept.detail, handoff_id)
        except TooMuchError as error:
            raise HTTPException(413, str(error)) from error


def _add_sets(api: FastAPI, monitor: Monitor) -> None:
    kept = monitor.kept

    @api.get("/api/summary", responses=_answers(shapes.Summary))
    async def summary(asked: Annotated[SummaryFilters, Query()]) -> Response:
        """Return what handoffs add up to, as a whole and by the hour. Whole hours count."""

        def found(wanted: Wanted) -> dict[str, Any]:
            waiting = {"open_traces": monitor.open_traces, "waiting_bytes": monitor.waiting_bytes}
            return {**kept.summary(wanted), **waiting}

        return await answered(found, asked.wanted())

    @api.get("/api/compare", responses=_answers(shapes.Compared))
    async def compare(request: Request, before: str, after: str) -> Response:
        """Return how the handoffs of the same records fared before and after: the newest 2,000 of each.

        Both sides are filters as `/api/handoffs` takes them, in one string: `name=qa&until=2026-12-01T00:00:00Z`.
        """
        _takes_only(request, "before", "after")
        wanted = [_side(name, text) for name, text in (("before", before), ("after", after))]

        def found() -> dict[str, Any]:
            sides = [kept.rows(each, limit=MOST_LISTED) for each in wanted]
            shown = compared(*(Side(side["places"], side["handoffs"]) for side in sides))
            return {**shown, "more": any(side["after"] is not None for side in sides)}

        return await answered(found)


def _add_runs(api: FastAPI, monitor: Monitor) -> None:
    @api.get("/api/runs", responses=_answers(shapes.Runs))
    async def runs(request: Request) -> Response:
        """Return the runs, the one of the handoff that was settled last first, at most 1,000."""
        _takes_nothing(request)
        return await answered(monitor.runs.listed)

    @api.get("/api/runs/{run_id:anything}", responses=_answers(shapes.RunDetail, _UNKNOWN))
    async def run(run_id: str, request: Request) -> Response:
        """Return one run: its first 1,000 missing records, and the run report under the monitor's declaration."""
        _takes_nothing(request)
        return await answered(monitor.runs.detail, run_id)

    @api.get("/api/stream", responses={200: {"content": {"text/event-stream": {}}}, **_described(_REFUSED, _FULL)})
    async def news(request: Request) -> Response:
        """Send an event for what was settled, at most one a second: its rows, at most 50, and its verdicts."""
        _takes_nothing(request)
        response = stream(monitor.subscribers)
        if response is None:
            raise HTTPException(503, _FULL[503])
        return response


def _answers(shape: type[Any], *more: dict[int, str]) -> dict[int | str, dict[str, Any]]:
    return {200: {"model": shape}, **_described(_REFUSED, *more)}


def _described(*statuses: dict[int, str]) -> dict[int | str, dict[str, Any]]:
    return {status: {"model": shapes.Error, "description": says} for each in statuses for status, says in each.items()}


def _without_422(original: Any) -> Any:
    """Return what describes the API, without the answer 422 that the framework adds and that is never given."""

    def description() -> dict[str, Any]:
        found: dict[str, Any] = original()
        for path in found["paths"].values():
            path["get"]["responses"].pop("422", None)
        for name in ("HTTPValidationError", "ValidationError"):
            found["components"]["schemas"].pop(name, None)
        return found

    return description


def _each_once(request: Request) -> None:
    try:
        unique(request.query_params.multi_items())
    except ValueError as error:
        raise HTTPException(400, str(error)) from error


def _takes_only(request: Request, *names: str) -> None:
    for name in request.query_params:
        if name not in names:
            raise HTTPException(400, f"{name[:80]!r} is no parameter here")


def _takes_nothing(request: Request) -> None:
    _takes_only(request)


def _side(name: str, query: str) -> Wanted:
    try:
        return filters_in(query)
    except ValidationError as error:
        raise HTTPException(400, f"{name}: {sentence(error.errors())}") from error
    except ValueError as error:
        raise HTTPException(400, f"{name}: {error}") from error
