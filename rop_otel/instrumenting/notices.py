"""What an instrumentation package has to say: of a framework's version, of its own failures, of what is not watched."""

from __future__ import annotations

import logging
from importlib import metadata
from typing import Final

from opentelemetry.trace import get_current_span

from rop_otel.instrumenting.handoffs import is_selecting
from rop_otel.safety import raise_if_delivered
from rop_otel.tracing.position.context_position import current_position
from rop_otel.tracing.running.diagnostics import Problem
from rop_otel.tracing.running.runtime import current

_logger = logging.getLogger("rop_otel")
_warned: Final[set[tuple[str, str]]] = set()

_OUTSIDE: Final = (
    "%s: %s retrieved outside of any handoff, so that nothing says what became of its documents; write "
    "`with rop.handoff(name, selected=...):` around all that is done for one question (this is said once)"
)

_UNLABELLED: Final = (
    "%s: an answer cites, and no label could be read in the prompt of %s, so that its citations are not checked; "
    "say with label_pattern how the prompt labels its passages (this is said once)"
)


def supported(package: str, specifier: str) -> bool:
    """Return whether the installed version of a framework is one that an instrumentation package knows.

    Where it is not, one warning says so; the package then instruments nothing.

    Args:
        package: Name of the framework's distribution.
        specifier: The versions, as in ``>=1.0,<2``.
    """
    from packaging.specifiers import SpecifierSet  # comes with opentelemetry-instrumentation, not with this package

    try:
        version = metadata.version(package)
        if SpecifierSet(specifier).contains(version, prereleases=True):
            return True
        found = f"{package} {version} is installed"
    except metadata.PackageNotFoundError:
        found = f"{package} is not installed"
    except Exception as error:  # noqa: BLE001 - metadata without a version, or one that is none
        raise_if_delivered(error)
        found = f"the installed version of {package} is not known"
    _warn_once(package, "%s and is not watched: versions %s are", found, specifier)
    return False


def failure(place: str, message: str) -> None:
    """Count and log an exception of an instrumentation package's own code, which is being handled.

    Args:
        place: Where it happened, with the framework's name; the same message is logged once for each.
        message: What became of it, in one sentence.
    """
    current().diagnostics.failure(Problem.INSTRUMENTATION, place, message)


def retrieved_outside(framework: str, what: str, *, as_stage: bool = False) -> None:
    """Say, once for each framework, that something retrieved outside of any handoff: no verdict is to be had then.

    Where monitoring is off, and inside of a selector, it is as it should be, and nothing is said.

    Args:
        framework: Its name.
        what: What retrieved.
        as_stage: True where a stage of it begins next: where no span is around, that says the same by itself.
    """
    if as_stage and not get_current_span().get_span_context().is_valid:
        return
    if current_position().handoff is None and current().enabled and not is_selecting():
        _warn_once(framework, _OUTSIDE, framework, what)


def unlabelled(framework: str, what: str) -> None:
    """Say, once for each, that an answer cites and no label was read in the prompt.

    Args:
        framework: Its name.
        what: What made the prompt.
    """
    _warn_once(framework, _UNLABELLED, framework, what)


def _warn_once(about: str, message: str, *values: object) -> None:
    if (about, message) not in _warned:
        _warned.add((about, message))
        _logger.warning(message, *values)
