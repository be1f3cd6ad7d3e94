"""A language model behind any server that speaks OpenAI's chat completions."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http.client import HTTPException
from typing import Any, Final
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from rop_otel.errors import ConfigurationError
from rop_otel.study.omission.reader_calls import CallError, Failure
from rop_otel.study.omission.shown_passages import INSTRUCTION, Passage, render

PATH: Final = "/chat/completions"
MAX_RESPONSE_BYTES: Final = 16 * 1024 * 1024
MAX_WAIT: Final = 120.0
"""Longest wait in seconds that a server may ask for; a call that is asked to wait longer has failed."""

_EXCERPT: Final = 200
_SETUP: Final = frozenset({401, 403, 404, 405})
"""Statuses that every further call would get, too."""


class ChatServer:
    """Asks a server for the answer.

    Args:
        url: The server's base address, such as ``http://localhost:8000/v1``.
        model: Which of its models.
        key: Sent as a bearer token; None: none.
        temperature: Of sampling; None: as the server has it.
        seconds: How long connecting and each read may take.

    Raises:
        ConfigurationError: The address is none.
    """

    def __init__(self, url: str, *, model: str, key: str | None, temperature: float | None, seconds: float) -> None:
        try:
            parts = urlsplit(url)
            usable = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
            usable = usable and parts.username is None  # a password belongs into the environment
        except ValueError:
            usable = False
        if not usable:
            raise ConfigurationError(f"--reader-url has to be an address such as http://localhost:8000/v1, not {url!r}")
        self._url = url if url.rstrip("/").endswith(PATH) else url.rstrip("/") + PATH
        self._model = model
        self._headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if key:
            self._headers["Authorization"] = f"Bearer {key}"
        self._temperature = {} if temperature is None else {"temperature": temperature}
        self._seconds = seconds
        self._opener = build_opener(_NoRedirects)

    def __call__(self, question: str, passages: Sequence[Passage], /) -> str:
        """Return the answer.

        Raises:
            CallError: This call failed.
            ConfigurationError: Every call would fail.
        """
        messages = [
            {"role": "system", "content": INSTRUCTION},
            {"role": "user", "content": render(question, passages)},
        ]
        body = json.dumps({"model": self._model, "messages": messages, **self._temperature}).encode()
        request = Request(self._url, data=body, headers=self._headers, method="POST")
        try:
            with self._opener.open(request, timeout=self._seconds) as response:
                data = response.read(MAX_RESPONSE_BYTES + 1)
        except HTTPError as error:
            with error:
                raise self._refused(error) from None
        except (OSError, HTTPException, ValueError) as error:
            reason = getattr(error, "reason", error)
            raise CallError(Failure(f"the server cannot be reached: {type(error).__name__}: {reason}")) from None
        return _answer(data)

    def _refused(self, error: HTTPError) -> Exception:
        said = f"the server says {error.code} {error.reason}"
        if error.code in _SETUP or 300 <= error.code < 400:
            return ConfigurationError(f"{self._url}: {said}: {_excerpt(error)}")
        after = _seconds_in(error.headers.get("Retry-After"))
        if after is not None and after > MAX_WAIT:
            return CallError(Failure(f"{said} and asks to wait longer than {MAX_WAIT:g} seconds", again=False))
        limited = error.code == 429 or (error.code == 503 and after is not None)
        return CallError(Failure(said, again=limited or error.code >= 500, after=after, limited=limited))


class _NoRedirects(HTTPRedirectHandler):
    """A redirected POST would become a GET, and would carry the key elsewhere."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


def _excerpt(error: HTTPError) -> str:
    """Return the beginning of what a server says of a refusal."""
    try:
        return error.read(_EXCERPT).decode("utf-8", "replace").strip()
    except (OSError, HTTPException, ValueError):
        return ""


def _answer(data: bytes) -> str:
    if len(data) > MAX_RESPONSE_BYTES:
        raise CallError(Failure(f"the server's answer is longer than {MAX_RESPONSE_BYTES:,} bytes"))
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        raise CallError(Failure("the server's answer is no JSON")) from None
    match value:
        case {"choices": [{"message": {"content": str(text)}}, *_]}:
            return text
        case {"error": {"message": str(message)}} | {"error": str(message)}:
            raise CallError(Failure(f"the server reports an error: {message}"[:_EXCERPT]))
    raise CallError(Failure("the server's answer is no chat completion"))


def _seconds_in(header: str | None) -> float | None:
    """Return what Retry-After asks for, in seconds or as a date; None where it asks for nothing readable."""
    if header is None:
        return None
    try:
        seconds = float(header)
    except ValueError:
        try:
            moment = parsedate_to_datetime(header)
        except ValueError:
            return None
        seconds = (moment.replace(tzinfo=moment.tzinfo or UTC) - datetime.now(UTC)).total_seconds()
    return max(seconds, 0.0) if math.isfinite(seconds) else None
