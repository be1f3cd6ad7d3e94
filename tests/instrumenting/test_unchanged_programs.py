"""An application without a line of monitoring, started as OpenTelemetry starts what it instruments."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from tests.conftest import ROOT

OTHERS = [each.name for each in entry_points(group="opentelemetry_instrumentor")]
"""What else is installed to watch something, and takes long to import."""

ENTRY_POINT = "[opentelemetry_instrumentor]\nrop-toy = toy_instrumentation:ToyInstrumentor\n"
FRAMEWORK = """
def retrieve(question):
    return ["timeouts", "queues"]
def shorten(documents):
    return documents[1:]
"""
INSTRUMENTATION = """
import rop_otel as rop
from opentelemetry.instrumentation.instrumentor import BaseInstrumentor
from rop_otel.instrumenting import Settings, configure_once, topmost

class ToyInstrumentor(BaseInstrumentor):
    def instrumentation_dependencies(self):
        return ()
    def _instrument(self, **arguments):
        import toy
        settings = Settings.resolve(**arguments)
        configure_once()
        retrieve, shorten = toy.retrieve, rop.stage("packing", input_arg="documents")(toy.shorten)
        source = rop.stage("vector")(retrieve)
        def run(question):
            with topmost(settings, name="toy", inputs=question):
                return shorten(source(question))
        toy.run = run
    def _uninstrument(self, **arguments):
        pass
"""
PROGRAM = """
import logging
import toy
logging.basicConfig(level=logging.INFO, format="%(message)s")
print("started")
def selector(question):
    return question.split()[-1]
if __name__ == "__main__":
    print(toy.run("what are timeouts"))
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the application, a framework, and the installed package that watches it."""
    files = {
        "main.py": PROGRAM,
        "toy.py": FRAMEWORK,
        "toy_instrumentation.py": INSTRUMENTATION,
        "rop_otel_toy-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: rop-otel-toy\nVersion: 1.0\n",
        "rop_otel_toy-1.0.dist-info/entry_points.txt": ENTRY_POINT,
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("command", [["main.py"], ["-m", "main"]], ids=["script", "module"])
def test_the_lost_object_is_on_the_terminal(command: list[str], folder: Path) -> None:
    """The selector of the program itself selects, the program's lines run once, and the loss is told."""
    run = subprocess.run(
        [Path(sys.executable).parent / "opentelemetry-instrument", sys.executable, *command],
        cwd=folder,
        env={
            "ROP_OTEL_SELECTED_BY": "main:selector",
            "PYTHONPATH": f"{folder}:{ROOT}",
            "OTEL_PYTHON_DISABLED_INSTRUMENTATIONS": ",".join(OTHERS),
            "OTEL_TRACES_EXPORTER": "none",
            "OTEL_METRICS_EXPORTER": "none",
            "OTEL_LOGS_EXPORTER": "none",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.stdout == "started\n['queues']\n", run.stderr
    assert (
        "toy: FAIL, the selected object was lost at packing: packing left it out; selected: 'timeouts'\n" in run.stderr
    )
