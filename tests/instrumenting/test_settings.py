"""What a user tells an instrumentation package, and where from."""

from __future__ import annotations

import logging
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import rop_otel as rop
from rop_otel.errors import ConfigurationError
from rop_otel.instrumenting import Settings
from rop_otel.tracing.stages.spec import cached_spec
from tests.conftest import ROOT
from tests.tracing.watched import Watched

ENVIRON = {
    "ROP_OTEL_HANDOFF_NAME": "docs-qa",
    "ROP_OTEL_CUTOFF": "5",
    "ROP_OTEL_SELECTED_KEY": "page",
    "ROP_OTEL_ID_KEYS": "doc_id, source",
    "ROP_OTEL_STAGES": "Cut=candidates, Router=",
}
PROGRAM = """
print("started")
from rop_otel.instrumenting import Settings
settings = Settings.resolve()
def selector(inputs):
    return f"page of {inputs}"
if __name__ == "__main__":
    print(settings.selected_by("a question"))
"""


def test_nothing_is_set_by_default() -> None:
    """Without arguments and variables every setting has its default, and no ID is looked for anywhere unusual."""
    assert Settings.resolve(environ={}) == Settings()
    assert Settings().id is None


def test_the_environment_sets() -> None:
    """Each variable sets its setting."""
    assert Settings.resolve(environ=ENVIRON) == Settings(
        handoff="docs-qa",
        cutoff=5,
        selected_key="page",
        id_keys=("doc_id", "source"),
        stages={"Cut": "candidates", "Router": None},
    )


def test_arguments_come_before_the_environment() -> None:
    """An argument is taken instead of its variable."""
    stages = {"Mine": "mmr", "Other": None, "Third": ""}
    told = Settings.resolve(handoff="mine", cutoff=1, selected_key="k", id_keys=["a"], stages=stages, environ=ENVIRON)
    known = {"Mine": "mmr", "Other": None, "Third": None}
    assert told == Settings(handoff="mine", cutoff=1, selected_key="k", id_keys=("a",), stages=known)


@pytest.mark.parametrize(
    ("arguments", "place"),
    [
        ({"handoff": ""}, "the argument handoff"),
        ({"cutoff": 0}, "the argument cutoff"),
        ({"selected_by": 7}, "the argument selected_by"),
        ({"selected_by": "main"}, "'module:function'"),
        ({"selected_key": 7}, "the argument selected_key"),
        ({"id_keys": [7]}, "the argument id_keys"),
        ({"stages": {"Cut": 7}}, "the argument stages"),
        ({"stages": {"": "mmr"}}, "the argument stages"),
        ({"stages": ["Cut"]}, "the argument stages"),
        ({"handof": "x"}, "the argument handof is no setting"),
    ],
)
def test_a_wrong_argument_raises(arguments: dict[str, Any], place: str) -> None:
    """An argument that cannot be used raises where it is given, whatever the environment says."""
    with pytest.raises(ConfigurationError, match=place):
        Settings.resolve(environ=ENVIRON, **arguments)


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("ROP_OTEL_CUTOFF", "few"),
        ("ROP_OTEL_SELECTED_BY", "main"),
        ("ROP_OTEL_ID_KEYS", "a,,b"),
        ("ROP_OTEL_STAGES", "Cut"),
    ],
)
def test_a_wrong_variable_is_told_and_left_out(variable: str, value: str, caplog: pytest.LogCaptureFixture) -> None:
    """A variable that cannot be used is logged with its value; the others count, and the program starts."""
    with caplog.at_level(logging.WARNING, "rop_otel"):
        settings = Settings.resolve(environ={"ROP_OTEL_HANDOFF_NAME": "docs-qa", variable: value})
    assert settings == Settings(handoff="docs-qa")
    (message,) = caplog.messages
    assert message.startswith(f"the environment variable {variable} is {value!r}; it must be ")


class Cut:
    """A component."""


class ShortCut(Cut):
    """One that extends it."""


@pytest.mark.parametrize(
    ("component", "names", "stages", "expected"),
    [
        (Cut, (), {"Cut": "candidates"}, "Cut"),
        (ShortCut, (), {"Cut": "candidates"}, "Cut"),
        (ShortCut, (), {"Cut": "candidates", "ShortCut": None}, "ShortCut"),
        (ShortCut, ("cut",), {"ShortCut": None, "cut": "mmr"}, "cut"),
        (Cut, ("cut",), {"ShortCut": "candidates"}, None),
    ],
)
def test_the_nearest_name_says_what_a_component_is(
    component: type, names: tuple[str, ...], stages: dict[str, str | None], expected: str | None
) -> None:
    """A component is known by a name of its own, else by its class, else by the nearest that this extends."""
    assert Settings(stages=stages).key_of(component, *names) == expected


def test_providers_are_left_to_the_instrumentor() -> None:
    """The providers that every instrumentor may be given are no mistake."""
    assert Settings.resolve(environ={}, tracer_provider=None, meter_provider=None) == Settings()


def test_a_named_selector_is_imported_at_its_first_use() -> None:
    """A setting is read before the application's modules exist; a missing one is an error where it is called."""
    selector = Settings.resolve(selected_by="no_such_module_here:select").selected_by
    assert selector is not None
    with pytest.raises(ModuleNotFoundError):
        selector("a question")


def test_a_named_selector_may_be_an_attribute() -> None:
    """Behind the colon there may be a dotted name."""
    selector = Settings.resolve(selected_by="pathlib:PurePosixPath.as_posix").selected_by
    assert selector is not None
    assert selector(Path("a")) == "a"


@pytest.mark.parametrize("command", [["main.py"], ["-m", "main"]], ids=["script", "module"])
def test_the_running_program_is_not_imported_again(command: list[str], tmp_path: Path) -> None:
    """A selector in the program that runs is found there: the program's own lines run once."""
    (tmp_path / "main.py").write_text(PROGRAM, encoding="utf-8")
    run = subprocess.run(
        [sys.executable, *command],
        cwd=tmp_path,
        env={"ROP_OTEL_SELECTED_BY": "main:selector", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.stderr == ""
    assert run.stdout.split("\n") == ["started", "page of a question", ""]


@pytest.fixture
def by_keys() -> Callable[[Any], str | None]:
    """What reads a document's ID from its metadata."""
    read = Settings(id_keys=("doc_id", "source")).id
    assert read is not None
    return read


@pytest.mark.parametrize(
    "document",
    [
        SimpleNamespace(id="own", metadata={"source": "a"}),
        SimpleNamespace(id="own", meta={"doc_id": "a", "source": "b"}),
        SimpleNamespace(id="own", metadata={"doc_id": None, "source": "a"}),
        (SimpleNamespace(id="own", metadata={"source": "a"}), 0.5),
        {"id": "own", "metadata": {"source": "a"}},
        {"id": "own", "source": "a"},
        SimpleNamespace(id="a", metadata={}),
        SimpleNamespace(id="a", metadata=None),
        "a",
    ],
)
def test_the_first_key_that_is_present_is_the_id(by_keys: Callable[[Any], str | None], document: object) -> None:
    """A document's ID is that of its metadata, else its own, in the documents of each framework."""
    assert by_keys(document) == "a"


def test_a_document_without_any_id_has_none(by_keys: Callable[[Any], str | None]) -> None:
    """No ID is made up."""
    assert by_keys(SimpleNamespace(id=None, metadata={"page": 3})) is None


def test_what_reads_ids_is_prepared_once(watched: Watched) -> None:
    """Stages of equal settings share what is prepared for them."""
    before = cached_spec.cache_info().hits
    for _ in range(2):
        with rop.using_stage("vector", id=Settings(id_keys=("doc_id", "source")).id) as stage:
            stage.returned([{"doc_id": "a"}])
    assert cached_spec.cache_info().hits > before
