"""News of handoffs as server-sent events."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from typing import Final

from fastapi.responses import StreamingResponse

from rop_otel.monitor.api.json_answers import in_json
from rop_otel.monitor.kept_handoffs import listed
from rop_otel.monitor.subscribers import News, Subscribers

_PACE_SECONDS: Final = 1.0
_ALIVE_SECONDS: Final = 15.0


def stream(subscribers: Subscribers, *, pace: float = _PACE_SECONDS) -> StreamingResponse | None:
    """Return an answer that goes on until the client leaves; None where there are too many.

    Args:
        subscribers: Those that there are already.
        pace: Seconds between two events.
    """
    subscriber = subscribers.join()
    if subscriber is None:
        return None
    return StreamingResponse(
        _events(subscribers, subscriber, pace), media_type="text/event-stream", headers={"Cache-Control": "no-store"}
    )


async def _events(subscribers: Subscribers, subscriber: object, pace: float) -> AsyncIterator[str]:
    try:
        yield ": here\n\n"
        said = time.monotonic()
        while True:
            await asyncio.sleep(pace)
            news = subscribers.take(subscriber)
            if news is not None:
                yield f"event: settled\ndata: {_data(news)}\n\n"
            elif time.monotonic() - said >= _ALIVE_SECONDS:
                yield ": keep-alive\n\n"
            else:
                continue
            said = time.monotonic()
    finally:
        subscribers.leave(subscriber)


def _data(news: News) -> str:
    rows = list(reversed(news.rows))
    return in_json({**listed(rows), "verdicts": dict(news.verdicts), "more": news.verdicts.total() - len(rows)})
