"""Answers that cite where no label was read."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from rop_otel.instrumenting import citations_unread


@pytest.mark.parametrize(
    ("answer", "cites"),
    [("It is so [1].", True), ("It is so [S2].", True), ("It is so.", False), ("Use `x[1]` or array[2].", False)],
)
def test_it_is_said_once(
    watch: Callable[..., object],
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
    answer: str,
    cites: bool,
) -> None:
    """One line says that the citations of an answer are not checked; not of an answer that has none."""
    monkeypatch.setattr("rop_otel.instrumenting.notices._warned", set())
    watch(enabled=False)
    citations_unread("LangChain", answer)
    watch()
    for _ in range(2):
        citations_unread("LangChain", answer)
    assert [record.getMessage().partition(":")[0] for record in caplog.records] == ["LangChain"] * cites
