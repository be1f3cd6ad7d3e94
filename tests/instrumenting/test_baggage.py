"""A selection that travels from the service that selects to the one that retrieves, over HTTP."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.request import Request, urlopen

import pytest
from opentelemetry import baggage
from opentelemetry.context import attach, detach, get_current
from opentelemetry.propagate import extract, inject

import rop_otel as rop
from rop_otel.instrumenting import Settings, topmost, using_baggage
from tests.tracing.watched import Watched, retrieve


class Search(ThreadingHTTPServer):
    """A retrieval service that an instrumentation package watches, and that calls a further service."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), SearchHandler)
        self.received: list[str | None] = []
        self.forwarded: list[str | None] = []


class SearchHandler(BaseHTTPRequestHandler):
    """Answers one query, as a web framework's instrumentation and ours would have it."""

    def do_GET(self) -> None:
        """Retrieve, and note what came in and what the next request would carry."""
        assert isinstance(self.server, Search)
        self.server.received.append(self.headers.get("baggage"))
        token = attach(extract({name.lower(): value for name, value in self.headers.items()}))
        try:
            with topmost(Settings(), name="search"):
                retrieve("a", "b", packed=("b",))
                self.server.forwarded.append(outgoing())
        finally:
            detach(token)
        self.send_response(204)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's word
        """Say nothing."""


def outgoing() -> str | None:
    """Return the baggage that a request would carry now."""
    headers: dict[str, str] = {}
    inject(headers)
    return headers.get("baggage")


def ask(url: str) -> None:
    """Send a request as an instrumented HTTP client does."""
    headers: dict[str, str] = {}
    inject(headers)
    with urlopen(Request(url, headers=headers)) as response:
        assert response.status == 204


@pytest.fixture
def search() -> Iterator[Search]:
    """The retrieval service, on loopback."""
    with Search() as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def test_a_selection_reaches_the_service_that_retrieves(watch: Callable[..., Watched], search: Search) -> None:
    """What one service selected is judged in the other, and goes no further by itself."""
    watched = watch(baggage_hosts=("127.0.0.1",))
    url = f"http://127.0.0.1:{search.server_port}/"
    with rop.handoff("front", selected=["a", "x,y"]), using_baggage(url):
        ask(url)
    served, front = watched.heard.records
    assert (served.name, front.name) == ("search", "front")
    assert served.selected == front.selected == ("a", "x,y")
    assert watched.heard.assessments[0].drop_cause is rop.DropCause.OVER_BUDGET
    assert search.forwarded == [None]


def test_no_other_host_is_told(watch: Callable[..., Watched], search: Search) -> None:
    """A request to a host that is not allowed carries no selection, not even one that the block was entered with."""
    watched = watch(baggage_hosts=("127.0.0.1",))
    url = f"http://localhost:{search.server_port}/"
    with rop.handoff("front", selected="a"), using_baggage("http://127.0.0.1/"), using_baggage(url):
        ask(url)
    assert search.received == [None]
    assert watched.heard.records[0].selected is None


def test_by_default_nobody_is_told(watched: Watched, search: Search) -> None:
    """Without allowed hosts nothing is sent."""
    url = f"http://127.0.0.1:{search.server_port}/"
    with rop.handoff("front", selected="a"), using_baggage(url):
        ask(url)
    assert search.received == [None]


@pytest.mark.parametrize(
    ("url", "sent"),
    [
        ("https://search.example/x", True),
        ("https://SEARCH.example:8443/x", True),
        ("http://user:secret@search.example", True),
        ("http://a.svc.example", True),
        ("http://svc.example", False),
        ("http://a.svc.example.evil.test", False),
        ("http://search.example@evil.test", False),
        ("http://evil-search.example", False),
        ("http://evil.test\\@search.example", False),
        ("http://evil.test/search.example", False),
        ("http://[::1]:80/", True),
        ("http://[::1", False),
        ("search.example", False),
        ("/relative", False),
        ("", False),
    ],
)
def test_the_host_decides(url: str, sent: bool, watch: Callable[..., Watched]) -> None:
    """The host of the address, and nothing else in it, has to be one that is allowed."""
    watch(baggage_hosts=("search.example", ".svc.example", "::1"))
    before = get_current()
    with rop.handoff("front", selected="a"):
        with using_baggage(url):
            assert outgoing() == ("rop.selected.ids=a" if sent else None)
        assert outgoing() is None
    assert get_current() is before


@pytest.mark.parametrize("url", [None, 7, b"http://search.example"])
def test_no_address_is_no_host(url: object, watch: Callable[..., Watched]) -> None:
    """What is no address at all harms nothing and is sent nothing; it is counted."""
    watched = watch(baggage_hosts=("search.example",))
    with rop.handoff("front", selected="a"), using_baggage(url):  # type: ignore[arg-type]
        assert outgoing() is None
    assert watched.errors("handoff") == 1


@pytest.mark.parametrize("url", ["http://[::1", "http://evil.test\uff0f@search.example", None, 7, b"http://evil.test"])
def test_an_address_that_cannot_be_read_is_not_allowed(url: object, watch: Callable[..., Watched]) -> None:
    """A selection that is in the context already, from the caller or a block around, does not go there either."""
    watch(baggage_hosts=("search.example",))
    token = attach(extract({"baggage": "rop.selected.ids=received"}))
    try:
        with using_baggage(url):  # type: ignore[arg-type]
            assert outgoing() is None
        with rop.handoff("front", selected="a"), using_baggage("http://search.example"):
            with using_baggage(url):  # type: ignore[arg-type]
                assert outgoing() is None
            assert outgoing() == "rop.selected.ids=a"
    finally:
        detach(token)


def test_a_selection_that_cannot_be_written_is_not_sent(watch: Callable[..., Watched]) -> None:
    """Half of a character has no bytes: such a selection stays here, and no other one goes in its place."""
    watch(baggage_hosts=("search.example",))
    token = attach(extract({"baggage": "rop.selected.ids=received"}))
    try:
        with rop.handoff("front", selected="a\ud800"), using_baggage("http://search.example"):
            assert outgoing() is None
    finally:
        detach(token)


def test_other_baggage_stays(watch: Callable[..., Watched]) -> None:
    """The application's own entries are left as they are, in and after the block."""
    watch(baggage_hosts=("search.example",))
    token = attach(baggage.set_baggage("tenant", "t1"))
    try:
        with rop.handoff("front", selected="a"), using_baggage("http://search.example"):
            assert outgoing() == "tenant=t1,rop.selected.ids=a"
        assert outgoing() == "tenant=t1"
    finally:
        detach(token)


def test_a_selection_that_is_too_long_is_not_sent(watch: Callable[..., Watched]) -> None:
    """Half of a selection would be another one: it is left out as a whole, and counted."""
    watched = watch(baggage_hosts=("search.example",))
    with rop.handoff("front", selected=["ä" * 150] * 3), using_baggage("http://search.example"):
        assert outgoing() is None
    assert watched.errors("handoff") == 1


@pytest.mark.parametrize("selected", [None, []])
def test_no_selection_is_not_sent(selected: object, watch: Callable[..., Watched]) -> None:
    """Where a selection did not come, there is nothing to send."""
    watch(baggage_hosts=("search.example",))
    with rop.handoff("front", selected=selected), using_baggage("http://search.example"):
        assert outgoing() is None


def test_hashed_ids_are_not_sent(watch: Callable[..., Watched]) -> None:
    """Neither the IDs, which the key hides, nor their hashes, which the receiver would hash again."""
    watch(baggage_hosts=("search.example",), hash_key=b"k")
    with rop.handoff("front", selected="a"), using_baggage("http://search.example"):
        assert outgoing() is None


def test_outside_of_any_handoff_a_received_selection_is_passed_on(watch: Callable[..., Watched]) -> None:
    """A service in the middle passes it on to allowed hosts, and to no other."""
    watch(baggage_hosts=("search.example",))
    token = attach(extract({"baggage": "rop.selected.ids=a"}))
    try:
        with using_baggage("http://search.example"):
            assert outgoing() == "rop.selected.ids=a"
        with using_baggage("http://elsewhere.example"):
            assert outgoing() is None
    finally:
        detach(token)


def test_what_was_current_comes_back(watched: Watched) -> None:
    """After a handoff that took a selection out of the context, the application's context is as it was."""
    token = attach(baggage.set_baggage("rop.selected.ids", "a"))
    try:
        before = get_current()
        with topmost(Settings(), name="search"):
            assert outgoing() is None
        assert get_current() is before
    finally:
        detach(token)
