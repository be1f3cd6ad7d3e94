"""Runs a program through a door, and returns everything that the application and its process can see of it."""

from __future__ import annotations

import asyncio
import contextvars
import gc
import inspect
import logging
import signal
import sys
import threading
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from traceback import walk_tb
from types import CodeType, TracebackType
from typing import Any, Final

from rop_otel.tracing.running import runtime
from tests.safety.fuzz import values
from tests.safety.fuzz.describing import ADDRESS, FILE, differences
from tests.safety.fuzz.doors import Bare, Door, Monitored
from tests.safety.fuzz.tree import Program
from tests.safety.fuzz.world import World

_SECONDS: Final = 20
"""After this time a program hangs."""

Doors = Callable[[str], list[Door]]
"""Gives the doors that a program with this seed goes through beside the bare one."""


class NoProgramError(Exception):
    """What was left of a program when it was made smaller is none."""


class HungError(BaseException):
    """A program did not end."""


def monitored(seed: str) -> list[Door]:
    """Return the monitor, and the monitor switched off."""
    return [Monitored(seed), Monitored(seed, enabled=False)]


def compared(program: Program, doors: Doors = monitored) -> list[str]:
    """Run a program bare and through each door, and say what differs; the empty list where nothing does."""
    try:
        code = compile(program.source, FILE, "exec")
    except SyntaxError as error:
        raise NoProgramError(str(error)) from error
    bare = observe(code, Bare(), leaky=program.leaky)
    found: list[str] = []
    for door in doors(program.seed):
        seen = observe(code, door, leaky=program.leaky)
        seen["reports"] = _more(seen["reports"], bare["reports"])
        found += differences({**bare, "reports": []}, seen)
    return found


def _more(reports: Any, known: Any) -> list[object]:
    """Return the reports that are not known."""
    return sorted((Counter(reports) - Counter(known)).elements())


def observe(code: CodeType, door: Door, *, leaky: bool) -> dict[str, object]:
    """Run a program once, in a context of its own."""
    threads = threading.active_count()
    world = World(door, leaky=leaky)
    reports: list[object] = []
    with _listening(reports):
        context = contextvars.copy_context()
        context.run(_run, code, world, reports)
        if not leaky:
            context.run(world.outside)
        del context
        gc.collect()
        door.open_count()  # which ends what was left half-way
        gc.collect()
        opened = door.open_count()
        seen = {**world.observed(), "reports": list(map(repr, reports))}
    seen["reads"] = world.too_many_reads
    seen["open handoffs"] = opened
    seen["threads"] = threading.active_count() - threads
    return seen


def _run(code: CodeType, world: World, reports: list[object]) -> None:
    names = world.globals()
    try:
        main = _main(code, world, names)
        if inspect.iscoroutinefunction(main):
            asyncio.run(_start(main, world, reports))
        else:
            main()
    except (HungError, NoProgramError):
        raise
    except BaseException as error:  # noqa: BLE001 - compared, like all that the program does
        world.saw(error)
    world.settle()
    names.clear()
    world.end()
    gc.collect()
    world.look()


def _main(code: CodeType, world: World, names: dict[str, Any]) -> Callable[[], Any]:
    try:
        exec(code, names)
        main: Callable[[], Any] = names["main"]
    except Exception as error:
        if world.is_bare:
            raise NoProgramError(str(error)) from error
        raise
    return main


async def _start(main: Callable[[], Any], world: World, reports: list[object]) -> None:
    def report(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        message = context["message"].split("<")[0]
        reports.append(("loop", message, type(context.get("exception")).__name__))

    asyncio.get_running_loop().set_exception_handler(report)
    try:
        await main()
    finally:
        world.log("tasks", len(asyncio.all_tasks()))


class _Records(logging.Handler):
    """Keeps what is logged, but not the monitor's remarks on how it is used.

    Args:
        reports: Where it is kept.
    """

    def __init__(self, reports: list[object]) -> None:
        super().__init__()
        self._reports = reports

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a record."""
        if not record.name.startswith("rop_otel"):
            self._reports.append((record.name, _plain(record.getMessage())))
        elif record.exc_info and not _is_the_programs(record.exc_info[2]):
            self._reports.append((record.name, record.getMessage(), record.exc_info[0]))


def _is_the_programs(trace: TracebackType | None) -> bool:
    """Return whether an exception was raised by an object of the program's, and not by the monitor itself."""
    last = [FILE, *(frame.f_code.co_filename for frame, _ in walk_tb(trace))][-1]
    return last in (FILE, values.__file__)


@contextmanager
def _listening(reports: list[object]) -> Iterator[None]:
    """Keep what goes to the hooks of the process: warnings, logs, what nobody can catch."""
    handler = _Records(reports)
    loggers = [logging.getLogger(name) for name in ("rop_otel", "opentelemetry", "asyncio")]
    hooks = sys.unraisablehook, threading.excepthook
    sys.unraisablehook = lambda lost: reports.append(("unraisable", repr(type(lost.exc_value)), _plain(lost.err_msg)))
    threading.excepthook = lambda lost: reports.append(("thread", repr(lost.exc_type)))
    for logger in loggers:
        logger.addHandler(handler)
        logger.propagate = False
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            yield
        finally:
            for logger in loggers:
                logger.removeHandler(handler)
                logger.propagate = True
            sys.unraisablehook, threading.excepthook = hooks
            reports += [(each.category.__name__, _plain(str(each.message)), _place(each)) for each in warned]


def _place(warned: warnings.WarningMessage) -> object:
    """Return where a warning points to, if that is in the program."""
    return warned.lineno if warned.filename == FILE else "elsewhere"


def _plain(message: str | None) -> str:
    return ADDRESS.sub("", message or "")


@contextmanager
def steady() -> Iterator[None]:
    """Make runs repeat themselves: no collection but those that a program asks for, and no endless program."""
    before, collects = runtime.install(None), gc.isenabled()

    def hung(number: int, frame: object) -> None:
        raise HungError(f"a program runs for more than {_SECONDS} seconds")

    alarm = signal.signal(signal.SIGALRM, hung)
    gc.collect()
    gc.disable()
    gc.freeze()
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, alarm)
        gc.unfreeze()
        if collects:
            gc.enable()
        runtime.install(before)


def wind() -> None:
    """Give the next program its time."""
    signal.setitimer(signal.ITIMER_REAL, _SECONDS, 1)  # again and again, since a program may catch it
