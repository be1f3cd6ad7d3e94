"""Requests passed on, as they came, to another OTLP endpoint."""

from __future__ import annotations

import time
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from queue import Empty, Full, Queue
from threading import Event, Thread
from typing import Final

from rop_otel.core.handoff.sink import Notice
from rop_otel.errors import ConfigurationError
from rop_otel.meters.tally import Tally

_MOST_WAITING: Final = 1000
"""Requests that may wait; more are lost, and counted."""

_TIMEOUT_SECONDS: Final = 10.0
_PAUSES_SECONDS: Final = (0.5, 1.0, 2.0, 4.0, 8.0)
"""How long to wait before each new try."""

_RETRYABLE: Final = frozenset({429, 502, 503, 504})


@dataclass(frozen=True, slots=True)
class _Request:
    body: bytes
    kind: str
    spans: int


class Forwarder:
    """Sends requests on in a thread of its own. It delays nobody; what cannot be sent is counted as unsent.

    Args:
        endpoint: Address of the other endpoint, without ``/v1/traces``; http or https.
        tally: Counts the spans that are not sent.
        sleep: Waits so many seconds, or less where the service ends; for tests.

    Raises:
        ConfigurationError: The address is none of http or https.
    """

    def __init__(self, endpoint: str, tally: Tally, *, sleep: Callable[[float], object] | None = None) -> None:
        if not endpoint.startswith(("http://", "https://")):
            raise ConfigurationError(f"{endpoint!r} is no address of http or https to pass spans on to")
        self._address = f"{endpoint.rstrip('/')}/v1/traces"
        self._tally = tally
        self._ending = Event()
        self._sleep = sleep or self._ending.wait
        self._waiting: Queue[_Request] = Queue(_MOST_WAITING)
        self._thread = Thread(target=self._run, name="rop_otel.forwarder", daemon=True)
        self._thread.start()

    def forward(self, body: bytes, kind: str, spans: int) -> None:
        """Pass a request on.

        Args:
            body: Unpacked.
            kind: Its content type.
            spans: How many spans it holds.
        """
        try:
            self._waiting.put_nowait(_Request(body, kind, spans))
        except Full:
            self._lose(spans)

    def close(self, *, seconds: float = 5.0) -> None:
        """Send what waits, for at most so long."""
        end = time.monotonic() + seconds
        while not self._waiting.empty() and time.monotonic() < end:
            time.sleep(0.02)
        self._ending.set()
        self._thread.join(max(end - time.monotonic(), 0.1))

    def _run(self) -> None:
        while not self._ending.is_set():
            try:
                request = self._waiting.get(timeout=0.1)
            except Empty:
                continue
            if not self._is_sent(request):
                self._lose(request.spans)

    def _is_sent(self, request: _Request) -> bool:
        for pause in (*_PAUSES_SECONDS, None):
            again = self._post(request)
            if again is None:
                return True
            if not again or pause is None or self._ending.is_set():
                return False
            self._sleep(pause)
        return False

    def _post(self, request: _Request) -> bool | None:
        """Send a request once: None where it was taken, else whether to try again."""
        made = urllib.request.Request(self._address, data=request.body, headers={"Content-Type": request.kind})
        try:
            with urllib.request.urlopen(made, timeout=_TIMEOUT_SECONDS):
                return None
        except urllib.error.HTTPError as error:
            error.close()
            return error.code in _RETRYABLE
        except OSError:
            return True

    def _lose(self, spans: int) -> None:
        for _ in range(spans):
            self._tally.noticed(Notice.UNSENT)
