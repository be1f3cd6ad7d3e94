"""A monitor with some handoffs, asked without a network."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from starlette.testclient import TestClient

from rop_otel.monitor.http_door import create_app
from tests.monitor.kept import Kept

Ask = Callable[..., Any]


@pytest.fixture
def ask(keep: Callable[..., Kept]) -> Iterator[Ask]:
    """Return what asks the API: a path gives the answer's JSON, another status than 200 beside it."""
    clients: list[TestClient] = []

    def asked(kept: Kept, path: str, **params: str) -> Any:
        if not clients:
            clients.append(TestClient(create_app(kept.monitor, only_loopback=False)).__enter__())
        answer = clients[0].get(path, params=params or None)
        assert answer.content.isascii()
        return answer.json() if answer.status_code == 200 else (answer.status_code, answer.json()["error"])

    yield asked
    for client in clients:
        client.__exit__(None, None, None)
