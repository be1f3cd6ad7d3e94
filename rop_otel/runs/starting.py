"""Starting a live run: its declaration or population, its journal and its deadline."""

from __future__ import annotations

import hashlib
import logging
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from math import isfinite
from typing import TYPE_CHECKING, Final

from rop_otel.core.handoff.record import UNNAMED
from rop_otel.core.idshape import IdShape
from rop_otel.core.profile.declaration import Declaration, Interface, Opened
from rop_otel.core.profile.declaration_faults import Fault
from rop_otel.core.profile.fieldpath import FieldPath
from rop_otel.core.profile.resolver import Resolver
from rop_otel.errors import ConfigurationError, InputError
from rop_otel.safety import raise_if_delivered
from rop_otel.tracing.results.scalars import as_name, plainly
from rop_otel.tracing.running.diagnostics import Problem
from rop_otel.tracing.running.open_runs import RUNS
from rop_otel.tracing.running.runtime import Runtime, current

if TYPE_CHECKING:
    from rop_otel.runs.journal import Journal, Stamp
    from rop_otel.runs.live import Run
    from rop_otel.runs.observations import Observations

_logger = logging.getLogger("rop_otel")
_RECORD_ID: Final = FieldPath.parse("record_id")


def run(
    run_id: str,
    *,
    declaration: str | os.PathLike[str] | None = None,
    expected: Iterable[str] | None = None,
    deadline: float | timedelta | datetime | None = None,
    journal: str | os.PathLike[str] | None = None,
    fsync: bool = False,
    interfaces: Mapping[str, str | tuple[str, str]] | None = None,
) -> Run:
    """Start a run, for a ``with`` block or until its ``close()``; it gives the ROP run report of its handoffs.

    Handoffs belong to the run that are opened inside the block, or anywhere with ``run_id=``. What they leave open
    (mode, rule, cutoff) the declaration decides, and its resolver is in force for them.

    Nothing here raises, save in strict mode: a run whose declaration cannot be used goes on and reports
    ``RUN_INVALID``, and one whose journal cannot be used says in its report that it is not complete.

    Args:
        run_id: Its ID, also of the run that goes on after a crash.
        declaration: The file ``declaration.json`` of a sealed folder, which names the population.
        expected: Instead of a declaration, the record IDs that are expected; each handoff is then judged by what it
            says itself.
        deadline: When the run is over: seconds from now on, or a moment with a time zone.
        journal: A file that observations are written to, so that a run survives the crash of its process: started
            again with the same journal, it goes on where it was.
        fsync: Wait for the disk at each observation, so that it survives the crash of the machine, too.
        interfaces: Compare the interface of the declaration with that of each handoff: by handoff name the interface's
            name, or its name and version. A handoff of another name stands for the interface of that name. None
            compares nothing.

    Raises:
        ConfigurationError: In strict mode, an argument, the declaration or the journal cannot be used.
    """
    from rop_otel.runs.journal import Stamp
    from rop_otel.runs.live import Run

    # Imported here: an application without runs need not wait for it.
    from rop_otel.runs.observations import Observations, OwnWordObservations

    start = _Start(run_id)
    opened = start.opened(start.path("declaration", declaration), expected)
    opened = replace(opened, interfaces=start.interfaces(interfaces))
    own_word = declaration is None and opened.declaration is not None
    sealed = _hash_of(opened.declaration.population) if own_word and opened.declaration else opened.manifest_sha256
    stamp = Stamp(run_id=start.run_id, manifest_sha256=sealed)
    seconds = start.seconds(deadline)
    place = start.path("journal", journal)
    file = start.run_id if place is None else place
    begin = partial(OwnWordObservations if own_word else Observations, opened, stamp=stamp, file=file)
    found = None if place is None else start.journal(place, stamp, fsync=fsync)
    try:
        observations, kept = start.resume(begin, found)
        started = Run(
            start.run_id, observations=observations, journal=kept, seconds=seconds, incomplete=tuple(start.incomplete)
        )
        if start.runtime.enabled:
            RUNS.add(started)
    except BaseException:  # delivered, or of strict mode; nobody else can let go of the journal
        if found is not None:
            found.close()
        raise
    return started


class _Start:
    """What is needed to start a run, and what was wrong with it."""

    def __init__(self, run_id: object) -> None:
        self.runtime: Runtime = current()
        self.incomplete: list[str] = []
        named = as_name(run_id, self.runtime.shape)
        self.run_id = named or UNNAMED
        if named is None:
            self._complain(f"run_id is {plainly(run_id)}; it must be a non-empty string, short and in one line")
        if not self.runtime.enabled:
            self.incomplete.append("monitoring is off, so no handoff was observed")
        elif self.runtime.config.assess == "monitor":
            self.incomplete.append("handoffs are assessed by the monitor, so none was observed here")

    def path(self, what: str, given: object) -> str | None:
        """Return a file's name, None where there is none."""
        if given is None:
            return None
        if isinstance(given, str | bytes | os.PathLike):
            return os.fsdecode(given)
        self._complain(f"{what} is {plainly(given)}; it must be the name of a file")
        return ""

    def opened(self, declaration: str | None, expected: Iterable[str] | None) -> Opened:
        """Return the declaration, or what stands for one."""
        if declaration is not None:
            if expected is not None:
                self._complain("expected is ignored: the declaration names the population")
            found = self._read(declaration)
        elif expected is None:
            found = _broken("population_required", "a run needs a declaration, or the record IDs that it expects")
        else:
            found = _expecting(expected, self.runtime.shape)
        if found.faults:
            first = found.faults[0]
            more = f" and {len(found.faults) - 1:,} more faults" if len(found.faults) > 1 else ""
            # What is wrong may be told with IDs of the resolver's.
            why = first.code if self.runtime.config.hash_key is not None else f"{first.code}: {first.message}"
            self._complain(f"its declaration is invalid: {why}{more}")
        elif found.declaration and found.declaration.witness and self.runtime.config.hash_key is not None:
            self._complain("its declaration demands witnesses, which cannot be decoded where a hash_key hides them")
        return found

    def interfaces(self, given: object) -> dict[str, Interface] | None:
        """Return the interface that each handoff name stands for; None where nothing is to be compared."""
        if given is None:
            return None
        try:
            found = dict(given.items()) if isinstance(given, Mapping) else {"": None}
        except Exception as error:  # noqa: BLE001 - the application's mapping
            raise_if_delivered(error)
            found = {"": None}
        told = {name: value if isinstance(value, tuple) else (value,) for name, value in found.items()}
        if all(isinstance(name, str) and _is_interface(value) for name, value in told.items()):
            return {name: Interface(name=value[0], version=(*value, None)[1]) for name, value in told.items()}
        wanted = "it must map names of handoffs to an interface's name, or to its name and version"
        self._complain(f"interfaces is {plainly(given)}; {wanted}")
        return None

    def journal(self, path: str, stamp: Stamp, *, fsync: bool) -> Journal | None:
        """Open the journal; None where it cannot be used."""
        from rop_otel.runs.journal import Journal

        if not self.runtime.enabled:
            return None
        try:
            return Journal(path, stamp=stamp, fsync=fsync)
        except InputError as error:
            self._without_journal(str(error))
            return None

    def resume(self, begin: Callable[[], Observations], journal: Journal | None) -> tuple[Observations, Journal | None]:
        """Return the observations that a journal holds already, and the journal; None where it cannot be read."""
        observations = begin()
        if journal is None:
            return observations, None
        try:
            for line in journal.lines():
                observations.take(line)
            if journal.torn:
                journal.drop_torn()
                _logger.warning(
                    "run %r: the last line of the journal %r was torn by a crash; its %s bytes are dropped",
                    self.run_id,
                    journal.path,
                    journal.torn,
                )
        except OSError as error:
            raise_if_delivered(error)
            journal.close()
            self._without_journal(f"{journal.path}: cannot be used: {error.strerror or error}")
            return begin(), None
        except Exception as error:  # noqa: BLE001 - whatever stands in a file must not reach the application
            raise_if_delivered(error)
            journal.close()
            self._without_journal(f"{journal.path}:{observations.lines}: is no observation ({type(error).__name__})")
            return begin(), None
        if observations.lines:
            _logger.info("run %r goes on after %s observations in %r", self.run_id, observations.lines, journal.path)
        return observations, journal

    def seconds(self, deadline: object) -> float | None:
        """Return how many seconds are left."""
        if deadline is None:
            return None
        seconds: float | None = None
        if isinstance(deadline, datetime) and deadline.tzinfo is not None:
            seconds = (deadline - datetime.now(UTC)).total_seconds()
        elif isinstance(deadline, timedelta):
            seconds = deadline.total_seconds()
        elif isinstance(deadline, int | float) and not isinstance(deadline, bool) and isfinite(deadline):
            seconds = float(deadline)
        if seconds is None:
            self._complain(f"deadline is {plainly(deadline)}; it must be seconds, or a moment with a time zone")
        return seconds

    def _read(self, file: str) -> Opened:
        from rop_otel.evaluation.declaration_reader import read_declaration

        try:
            return read_declaration(file)
        except InputError as error:
            return _broken("file_unreadable", str(error))

    def _without_journal(self, why: str) -> None:
        self.incomplete.append(f"there is no journal: {why}")
        self._complain(f"its journal cannot be used: {why}")

    def _complain(self, message: str) -> None:
        if self.runtime.config.strict:
            raise ConfigurationError(f"run {self.run_id!r}: {message}")
        self.runtime.diagnostics.misuse(Problem.RUN, f"run {self.run_id!r}", message)


def _is_interface(value: tuple[object, ...]) -> bool:
    return len(value) in {1, 2} and all(isinstance(part, str) and part for part in value)


def _hash_of(population: tuple[str, ...] | None) -> str:
    return hashlib.sha256("\n".join(population or ()).encode(errors="surrogatepass")).hexdigest()


def _broken(code: str, message: str) -> Opened:
    """Return what stands for a declaration that there is none of."""
    return Opened(
        manifest_sha256="",
        declaration_id=None,
        mode=None,
        record_field=_RECORD_ID,
        faults=(Fault(code=code, path="", message=message),),
        declaration=None,
    )


def _expecting(expected: Iterable[str], shape: IdShape) -> Opened:
    """Return what stands for a declaration where only the population is named."""
    try:
        given: list[object] = [] if isinstance(expected, str) else list(expected)
    except Exception as error:  # noqa: BLE001 - the application's iterable
        raise_if_delivered(error)
        given = []
    names = {name for name in given if isinstance(name, str) and name}
    if not names or not names.issuperset(given) or not shape.fit(names):
        wanted = "record IDs, at least one, each a non-empty string that is short enough for an ID"
        return _broken("population_invalid", f"expected must be {wanted}")
    declaration = Declaration(
        declaration_id="",
        interface=Interface(name=""),
        manifest_sha256="",
        mode="hard",
        selection_field=FieldPath.parse("selected"),
        output_field=FieldPath.parse("ids"),
        cutoff=1,
        rule="any",
        resolver=Resolver({}),
        population=tuple(sorted(names)),
        witness=None,
    )
    return Opened(
        manifest_sha256="",
        declaration_id=None,
        mode="hard",
        record_field=_RECORD_ID,
        faults=(),
        declaration=declaration,
    )
