"""News of settled handoffs for subscribers, added up for each of them until it is taken."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from rop_otel.monitor.store import StoredHandoff
from rop_otel.safety import create_lock

MOST_ROWS: Final = 50
"""Rows that one piece of news holds: the latest."""


@dataclass(slots=True)
class News:
    """What was settled since the last look.

    Args:
        rows: The last ones, at most ``MOST_ROWS``, the oldest of them first.
        verdicts: All of them by verdict.
    """

    rows: deque[Mapping[str, Any]] = field(default_factory=lambda: deque(maxlen=MOST_ROWS))
    verdicts: Counter[str] = field(default_factory=Counter)


class Subscribers:
    """Those who get news. However slow one is, what waits for it stays small, and nobody waits for it.

    Args:
        most: How many there may be.
    """

    def __init__(self, most: int = 64) -> None:
        self._most = most
        self._lock = create_lock()
        self._news: dict[object, News] = {}

    def join(self) -> object | None:
        """Return a new subscriber; None where there are too many already."""
        with self._lock:
            if len(self._news) >= self._most:
                return None
            subscriber = object()
            self._news[subscriber] = News()
            return subscriber

    def leave(self, subscriber: object) -> None:
        """Let a subscriber go."""
        with self._lock:
            self._news.pop(subscriber, None)

    def publish(self, handoffs: Iterable[StoredHandoff]) -> None:
        """Give all subscribers news of handoffs."""
        with self._lock:
            if not self._news:
                return
            for each in handoffs:
                for news in self._news.values():
                    news.rows.append(each.row)
                    news.verdicts[each.verdict] += 1

    def take(self, subscriber: object) -> News | None:
        """Return the news for a subscriber, which are then gone; None where there are none."""
        with self._lock:
            news = self._news[subscriber]
            if not news.verdicts:
                return None
            self._news[subscriber] = News()
            return news
