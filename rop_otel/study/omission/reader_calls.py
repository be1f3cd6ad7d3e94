"""Asking a reader: with a time limit, retries, and several calls at once. A call that fails is an outcome, too."""

from __future__ import annotations

import hashlib
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from queue import SimpleQueue
from threading import Thread
from typing import Final, Protocol

from rop_otel.errors import ConfigurationError
from rop_otel.study.omission.deletion_items import ARMS, Arm, Item
from rop_otel.study.omission.shown_passages import INSTRUCTION, Passage, render

MAX_WAITS: Final = 10
"""How often one call waits because the server asks for it, before that counts as a failed attempt."""

MAX_BACKOFF: Final = 60.0
"""Longest pause in seconds that is taken without being asked for."""

_MESSAGE_CHARS: Final = 200


class Reader(Protocol):
    """What answers a question from passages."""

    def __call__(self, question: str, passages: Sequence[Passage], /) -> object:
        """Return the answer, a string; anything else, or an exception, is a failed call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One planned cell.

    Args:
        item: What is asked about.
        arm: What is shown.
        repeat: 1-based number of the repetition.
    """

    item: Item
    arm: Arm
    repeat: int

    @property
    def key(self) -> tuple[str, str, str, int]:
        """What distinguishes it from the others."""
        return self.item.id, self.item.selector, self.arm, self.repeat

    @property
    def prompt_sha256(self) -> str:
        """The hash of what a language model would be sent."""
        prompt = f"{INSTRUCTION}\n{render(self.item.question, self.item.arms[self.arm])}"
        return hashlib.sha256(prompt.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of a call.

    Args:
        answer: The reader's answer; None where it failed.
        failure: Why the last attempt failed.
        requests: How often the reader was asked.
    """

    answer: str | None = None
    failure: str | None = None
    requests: int


@dataclass(frozen=True, slots=True)
class Failure:
    """Why one attempt failed.

    Args:
        reason: In one sentence.
        again: Whether another attempt may go better.
        after: Seconds to wait before it; None: as the policy says.
        limited: Whether the server asked to wait, which uses up no attempt.
    """

    reason: str
    _: KW_ONLY
    again: bool = True
    after: float | None = None
    limited: bool = False


class CallError(Exception):
    """What a reader raises that knows more of a failure than its message."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.reason)
        self.failure = failure


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """How a reader is asked.

    Args:
        attempts: How many attempts may fail before a call has failed.
        seconds: How long one attempt may take.
        parallel: How many calls run at once.
        backoff: Seconds before the second attempt, doubled before each further one.
        pause: Waits so many seconds.
    """

    attempts: int = 2
    seconds: float = 60.0
    parallel: int = 1
    backoff: float = 0.0
    pause: Callable[[float], None] = time.sleep


def plan_calls(items: Sequence[Item], repeats: int) -> list[Call]:
    """Return every planned cell: item by item, arm by arm, each so many times."""
    return [
        Call(item=item, arm=arm, repeat=repeat)
        for item in items
        for arm in ARMS
        if arm in item.arms
        for repeat in range(1, repeats + 1)
    ]


def run_calls(calls: Sequence[Call], reader: Reader, policy: Policy) -> Iterator[tuple[Call, Outcome]]:
    """Make calls, several at once, and yield each with its outcome as soon as it has one.

    Raises:
        ConfigurationError: The reader cannot be asked at all. What is under way is left to itself.
    """
    waiting = deque(calls)
    done: SimpleQueue[tuple[Call, Outcome] | Exception] = SimpleQueue()

    def work() -> None:
        while True:
            try:
                call = waiting.popleft()
            except IndexError:
                return
            try:
                done.put((call, ask(reader, call, policy)))
            except Exception as error:  # noqa: BLE001 - whoever waits for the outcome raises it
                waiting.clear()
                done.put(error)

    for _ in range(min(policy.parallel, len(calls))):
        Thread(target=work, daemon=True).start()
    try:
        for _ in calls:
            found = done.get()
            if isinstance(found, Exception):
                raise found
            yield found
    finally:
        waiting.clear()


def ask(reader: Reader, call: Call, policy: Policy) -> Outcome:
    """Make one call, with retries.

    Raises:
        ConfigurationError: The reader cannot be asked at all.
    """
    requests = waits = failed = 0
    while True:
        requests += 1
        found = _attempt(reader, call, policy.seconds)
        if isinstance(found, str):
            return Outcome(answer=found, requests=requests)
        if found.limited and waits < MAX_WAITS:
            waits += 1
        else:
            failed += 1
            if failed >= policy.attempts or not found.again:
                return Outcome(failure=found.reason, requests=requests)
        backoff = min(policy.backoff * 2 ** (failed + waits - 1), MAX_BACKOFF)
        policy.pause(backoff if found.after is None else found.after)


def _attempt(reader: Reader, call: Call, seconds: float) -> str | Failure:
    """Ask once, in a thread of its own: what never returns is left behind when its time is over."""
    found: list[object] = []

    def work() -> None:
        try:
            found.append(reader(call.item.question, call.item.arms[call.arm]))
        except BaseException as error:  # noqa: BLE001 - whatever it raises, the call has failed
            found.append(error)

    thread = Thread(target=work, daemon=True)
    thread.start()
    thread.join(seconds)
    return _judged(found[0]) if found else Failure(f"no answer within {seconds:g} seconds")


def _judged(value: object) -> str | Failure:
    """Return an answer, or why what a reader returned or raised is none."""
    if isinstance(value, ConfigurationError):
        raise value
    if isinstance(value, CallError):
        return value.failure
    if isinstance(value, BaseException):
        return Failure(f"{type(value).__name__}: {value}"[:_MESSAGE_CHARS])
    if not isinstance(value, str):
        return Failure(f"the reader returned {type(value).__name__}, not text")
    try:
        value.encode()
    except UnicodeEncodeError:
        return Failure("the reader returned half of a surrogate pair, which is no text")
    return value
