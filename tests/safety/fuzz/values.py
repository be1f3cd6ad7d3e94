"""What the programs hand about: documents and other objects that react where somebody touches them, and exceptions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Self


class AppError(Exception):
    """The application's own."""


class Stop(BaseException):
    """One that no ``except Exception`` may see."""


class OddError(Exception):
    """One that cannot be shown. Its ``repr`` can: asyncio itself shows that of what a task raises."""

    def __str__(self) -> str:
        raise RuntimeError("str")


class Doc:
    """A document.

    Args:
        raw: Its ID.
    """

    def __init__(self, raw: str) -> None:
        self.id = raw
        self.score = 0.5
        self.text = f"text of {raw}"


class Odd:
    """A lazy object whose attributes raise, as a row without its session does.

    Args:
        error: What they raise.
    """

    def __init__(self, error: type[BaseException]) -> None:
        object.__setattr__(self, "_error", error)

    def __getattr__(self, name: str) -> Any:
        raise object.__getattribute__(self, "_error")(name)


class Faceless(Odd):
    """One that does not even tell its class."""

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        raise object.__getattribute__(self, "_error")("class")

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("eq")

    def __hash__(self) -> int:
        raise RuntimeError("hash")

    def __bool__(self) -> bool:
        raise RuntimeError("bool")


class Touchy:
    """A document that reports when it is compared, called, tested or iterated: a reader of its ID does none of these.

    Args:
        raw: Its ID.
        report: Told what was done.
    """

    def __init__(self, raw: str, report: Callable[[str], None]) -> None:
        self.id = raw
        self._report = report

    def __eq__(self, other: object) -> bool:
        self._report("compared")
        return self is other

    def __hash__(self) -> int:
        return -7  # not reported: where id= is a mapping, documents are looked up in it

    def __bool__(self) -> bool:
        self._report("tested")
        return True

    def __call__(self) -> None:
        self._report("called")

    def __str__(self) -> str:
        self._report("shown")
        return "touchy"

    __repr__ = __str__


class Once:
    """An iterable, and its own iterator, that reports when it is evaluated.

    Args:
        items: What it gives, once.
        report: Told of each step.
    """

    def __init__(self, items: list[Any], report: Callable[[str], None]) -> None:
        self._items = iter(items)
        self._report = report

    def __iter__(self) -> Self:
        self._report("evaluated")
        return self

    def __next__(self) -> Any:
        self._report("stepped")
        return next(self._items)


class Later:
    """Something to await that is no coroutine.

    Args:
        report: Told when it is awaited.
    """

    def __init__(self, report: Callable[[str], None]) -> None:
        self._report = report

    def __await__(self) -> Iterator[None]:
        self._report("awaited")
        yield
        return


class Lazy:
    """A document that loads its ID and its score with each read.

    Args:
        read: Told of each read, with the attribute's name.
    """

    def __init__(self, raw: str, read: Callable[[Lazy, str], None]) -> None:
        self.raw = raw
        self._read = read

    @property
    def id(self) -> str:
        """The ID."""
        self._read(self, "id")
        return self.raw

    @property
    def score(self) -> float:
        """The score."""
        self._read(self, "score")
        return 0.5


class Fleeting:
    """A document that nobody else keeps: it goes when the application lets go of it."""

    id = "d1"


class Tool:
    """A callable object with attributes and methods of its own, as frameworks have them."""

    name = "tool"

    def __init__(self) -> None:
        self.calls = 0

    def invoke(self, question: object) -> list[object]:
        """Return what it is asked."""
        self.calls += 1
        return [question]


class Nothing:
    """What stands for a handoff, a stage, a round, and the stage that runs, in the run without any monitor."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        return None

    @property
    def running_stage(self) -> Self:
        """The stage that runs."""
        return self

    def _nothing(self, *_: object, **__: object) -> None:
        return None

    returned = input = implementation = query_form = select = answered = close = _nothing


ERRORS: tuple[type[BaseException], ...] = (
    ValueError,
    KeyError,
    AppError,
    OddError,
    StopIteration,
    StopAsyncIteration,
    GeneratorExit,
    TimeoutError,
    RuntimeError,
    TypeError,
    Stop,
    KeyboardInterrupt,
)
