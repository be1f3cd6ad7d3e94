"""What no test may see of the machine that it runs on, and how to run a failing test alone.

Programs that tests run inherit the settings of the machine.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator

import pytest

KEPT = frozenset({"ROP_OTEL_SHARED_DATA"})
SETTINGS = ("OTEL_", "ROP_", "UVICORN_", "LANGCHAIN_", "LANGSMITH_", "HAYSTACK_")
"""How variables begin that say what is monitored, served or sent to somebody."""
TERMINAL = frozenset(
    """CLICOLOR CLICOLOR_FORCE COLUMNS FORCE_COLOR GITHUB_ACTIONS LINES NO_COLOR PYTHONIOENCODING PYTHONWARNINGS
    PY_COLORS TTY_COMPATIBLE TTY_INTERACTIVE""".split()
)
"""What changes the look of what a program prints."""


def _is_foreign(name: str) -> bool:
    """Return whether a variable would change what is tested; proxies take requests to this machine away from it."""
    return name not in KEPT and (name.startswith(SETTINGS) or name in TERMINAL or name.lower().endswith("_proxy"))


for _name in [name for name in os.environ if _is_foreign(name)]:
    del os.environ[_name]


_MOST_SHOWN = 10


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the command that runs each failing test alone."""
    failed = [report.nodeid for kind in ("failed", "error") for report in terminalreporter.getreports(kind)]
    if not failed:
        return
    terminalreporter.section("run alone")
    for test in dict.fromkeys(failed[:_MOST_SHOWN]):
        terminalreporter.line(f".venv/bin/python -m pytest {shlex.quote(test)}")


@pytest.fixture(autouse=True)
def _settings_end_with_the_test() -> Iterator[None]:
    """What a test configured is not in force in the next one: the settings outlive ``rop_otel.shutdown``."""
    from rop_otel.tracing.running import runtime  # imported here: coverage has begun by now

    before = runtime.install(None)
    runtime.install(before)
    yield
    runtime.install(before)
