"""A real server on loopback that speaks OpenAI's chat completions, and misbehaves as it is told."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Lock, Thread
from typing import Any

Reply = tuple[int, dict[str, str], bytes]


def completion(text: object) -> Reply:
    return 200, {}, json.dumps({"choices": [{"message": {"role": "assistant", "content": text}}]}).encode()


@dataclass
class Served:
    """What a server saw.

    Args:
        url: Its base address.
        replies: Gives the reply to a request, by its number from 0; a reply of None ends the connection without one.
        requests: Headers and body of each.
        released: Set at the end: what hangs goes on.
    """

    replies: Callable[[int, str], Reply | None]
    url: str = ""
    requests: list[tuple[dict[str, str], dict[str, Any]]] = field(default_factory=list)
    released: Event = field(default_factory=Event)
    at_once: int = 0
    most_at_once: int = 0
    lock: Lock = field(default_factory=Lock)


@contextmanager
def serving(replies: Callable[[int, str], Reply | None]) -> Iterator[Served]:
    """Serve on a free port until the block ends."""
    served = Served(replies)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with served.lock:
                number = len(served.requests)
                served.requests.append((dict(self.headers), body | {"path": self.path}))
                served.at_once += 1
                served.most_at_once = max(served.most_at_once, served.at_once)
            reply = served.replies(number, body["messages"][1]["content"])
            with served.lock:
                served.at_once -= 1
            if reply is None:
                self.close_connection = True
                return
            status, headers, content = reply
            self.send_response(status)
            for name, value in ({"Content-Length": str(len(content))} | headers).items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_: object) -> None:
            pass  # the client went away

    server = Server(("127.0.0.1", 0), Handler)
    served.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield served
    finally:
        served.released.set()
        server.shutdown()
        server.server_close()
        thread.join()
