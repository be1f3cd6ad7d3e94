"""The page as the verbs write it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from rop_otel.errors import InputError

if TYPE_CHECKING:
    from rop_otel.page import AssessedSet, Carried
    from rop_otel.replay import Report


def assessed_set(name: str, report: Report, carried: Carried) -> AssessedSet:
    """Return what a replay found as a set of the page.

    Args:
        name: What the page calls the set.
        report: The replay's report.
        carried: What the spans carry beside it.
    """
    from rop_otel.page import AssessedSet  # imported here: --help need not wait for it

    return AssessedSet(
        name=name,
        assessments=report.assessments,
        records=report.handoffs,
        resolver=report.resolver,
        declaration=report.declaration,
        declared=report.declared,
        carried=carried,
        orphan_stages=report.orphan_stages,
        incomplete=report.incomplete,
        duplicates=report.duplicates,
        absent_resolvers=report.absent_resolvers,
        run=None if report.run is None else report.run.as_dict(),
    )


def save_page(sets: Sequence[AssessedSet], file: Path, *, title: str, trace_url: str | None = None) -> None:
    """Write a page.

    Raises:
        InputError: The file cannot be written.
        ConfigurationError: The address of traces cannot be used; the file is then left as it is.
    """
    from rop_otel.page import check_trace_url, write_page  # imported here: --help need not wait for it

    check_trace_url(trace_url)
    with _written(file), file.open("wb") as stream:
        write_page(sets, stream, title=title, trace_url=trace_url)


def claim(file: Path) -> None:
    """See that a page can be written, before anything slow begins.

    Raises:
        InputError: It cannot.
    """
    with _written(file):
        file.open("ab").close()


@contextmanager
def _written(file: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror or error}", file=str(file)) from error
