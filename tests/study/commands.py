"""``rop-otel study …`` as a user types it."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Protocol

import pytest

from rop_otel.cli.main import main


@dataclass(frozen=True)
class Ended:
    """How a command ended, and what it printed."""

    code: int
    out: str
    err: str

    @property
    def refusal(self) -> str:
        """The one sentence with which it refused something."""
        assert (self.code, self.err.count("\n")) == (2, 1), self
        return self.err.removeprefix("rop-otel: ").rstrip("\n")


class Command(Protocol):
    def __call__(self, *arguments: object) -> Ended: ...


def command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Return what runs ``rop-otel study`` in this process."""

    def run(*arguments: object) -> Ended:
        monkeypatch.setattr(sys, "argv", ["rop-otel", "study", *map(str, arguments)])
        capsys.readouterr()
        code: object = 0
        try:
            main()
        except SystemExit as ended:
            code = ended.code or 0
        printed = capsys.readouterr()
        assert isinstance(code, int)
        return Ended(code, printed.out, printed.err)

    return run
