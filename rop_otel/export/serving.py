"""A small HTTP server for scrapes, which costs the application almost nothing.

It has one thread and a few connections, each for one request. A client has a limited time to send its request and the
same time to read the answer. When there are too many connections, the oldest is closed. So a client that asks at once
is answered, even if others only hold connections. The limits protect the application's descriptors and processor time.
"""

from __future__ import annotations

import socket
from collections.abc import Callable
from selectors import EVENT_READ, EVENT_WRITE, DefaultSelector
from threading import Event, Thread, current_thread
from time import monotonic
from typing import Final

from rop_otel.safety import suppress_own

_MOST_OPEN: Final = 8
_PATIENCE_SECONDS = 10.0
"""How long a connection may take to ask, and then to read the answer: Prometheus gives up after as many by default."""

_LONGEST_HEAD: Final = 16 * 1024
_BLOCK: Final = 4096
_POLL_SECONDS: Final = 0.5
_PAUSE_SECONDS: Final = 0.1
"""How long nothing is done where a connection cannot be accepted, since the process has too many files open."""

TOO_LONG: Final = b"HTTP/1.1 431 Request Header Fields Too Large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


class _Connection:
    """One that asks, until it has a reply, and then reads it."""

    __slots__ = ("asked", "over", "reply", "socket")

    def __init__(self, accepted: socket.socket) -> None:
        self.socket = accepted
        self.asked = bytearray()
        self.reply: memoryview | None = None
        self.over = monotonic() + _PATIENCE_SECONDS

    def receive(self) -> bool:
        """Take in what came; whether there may be more."""
        block = self.socket.recv(_BLOCK)
        self.asked += block
        return block != b""

    def answer(self, reply: bytes) -> None:
        """Begin to send a reply."""
        self.reply = memoryview(reply)
        self.over = monotonic() + _PATIENCE_SECONDS

    def send(self) -> bool:
        """Send what can be sent; whether something is left."""
        if self.reply:
            self.reply = self.reply[self.socket.send(self.reply) :]
        return bool(self.reply)


class Server:
    """Answers requests without a body, until it is stopped.

    Args:
        answer: Called with the head of a request, gives the whole reply; it raises nothing.
        host: Address to listen on.
        port: Port to listen on; 0 takes a free one.

    Raises:
        OSError: The address cannot be listened on.
    """

    def __init__(self, answer: Callable[[bytes], bytes], *, host: str, port: int) -> None:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        both = family == socket.AF_INET6 and socket.has_dualstack_ipv6()
        self._answer = answer
        self._open: set[_Connection] = set()
        self._stopping = Event()
        self._listener = socket.create_server(address[:2], family=family, backlog=128, dualstack_ipv6=both)
        self._listener.setblocking(False)
        self.port: int = self._listener.getsockname()[1]
        self._selector = DefaultSelector()
        self._selector.register(self._listener, EVENT_READ)
        self._thread = Thread(target=self._serve, name="rop_otel.metrics", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop answering and free the port."""
        self._stopping.set()
        with suppress_own(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)  # wakes the thread on Linux; others wake by themselves
        if self._thread is not current_thread():  # as it is for a finalizer that runs in it
            self._thread.join(timeout=1.0)
        self._listener.close()

    def abandon(self) -> None:
        """Close a forked process's copies of the sockets; the server goes on in the process that started it."""
        self._listener.close()
        for connection in self._open:
            connection.socket.close()
        self._selector.close()

    def _serve(self) -> None:
        while not self._stopping.is_set():
            for key, _ in self._selector.select(_POLL_SECONDS):
                if key.data is None:
                    self._accept()
                else:
                    self._go_on(key.data)
            now = monotonic()
            for connection in [each for each in self._open if each.over < now]:
                self._drop(connection)
        for connection in list(self._open):
            self._drop(connection)
        self._selector.close()
        self._listener.close()

    def _accept(self) -> None:
        try:
            accepted, _ = self._listener.accept()
        except BlockingIOError:
            return
        except OSError:
            self._stopping.wait(_PAUSE_SECONDS)
            return
        accepted.setblocking(False)
        if len(self._open) >= _MOST_OPEN:
            self._drop(min(self._open, key=lambda each: (each.reply is not None, each.over)))
        connection = _Connection(accepted)
        self._open.add(connection)
        self._selector.register(accepted, EVENT_READ, connection)

    def _go_on(self, connection: _Connection) -> None:
        """Take in what a connection asks, or go on with the reply."""
        if connection not in self._open:
            return  # it made room for another one since it was selected
        try:
            left = connection.send() if connection.reply is not None else self._hear(connection)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            left = False
        if not left:
            self._drop(connection)

    def _hear(self, connection: _Connection) -> bool:
        goes_on = connection.receive()
        asked = connection.asked
        if b"\n\r\n" in asked or b"\n\n" in asked:
            connection.answer(self._answer(bytes(asked)))
        elif len(asked) > _LONGEST_HEAD:
            connection.answer(TOO_LONG)
        else:
            return goes_on
        self._selector.modify(connection.socket, EVENT_WRITE, connection)
        return connection.send()

    def _drop(self, connection: _Connection) -> None:
        self._open.discard(connection)
        self._selector.unregister(connection.socket)
        connection.socket.close()
