from __future__ import annotations

import pytest

from rop_otel.reference.assembly import load_tools
from rop_otel.reference.corpus import Corpus, Question, read_standard_library
from rop_otel.reference.encoder import Encoder
from rop_otel.reference.models import default_encoder
from rop_otel.reference.stage_widths import Settings
from rop_otel.reference.tools import Tools

MODULES = ("json", "csv", "shutil", "contextlib", "queue", "textwrap", "heapq")

QUESTIONS = (
    Question(id="q1", text="How do I write a Python object as JSON text?", judged=("json.dumps",)),
    Question(id="q2", text="How do I copy a whole directory tree to another place?", judged=("shutil.copytree",)),
    Question(id="q3", text="Which context manager ignores an exception?", judged=("contextlib.suppress",)),
    Question(id="q4", text="How do I put an item into a queue without blocking?", judged=("queue.Queue.put_nowait",)),
    Question(id="q5", text="How do I wrap a long paragraph at 70 columns?", judged=("textwrap.wrap", "textwrap.fill")),
    Question(id="q6", text="What does heapq.merge do with sorted inputs?", judged=("heapq.merge",)),
    Question(id="q7", text="How do I sniff the dialect of a CSV sample?", judged=("csv.Sniffer.sniff",)),
    Question(id="q8", text="How do I get the n largest elements of an iterable?", judged=("heapq.nlargest",)),
    Question(id="q9", text="How does copytree treat symlinks and errors while it copies?", judged=("shutil.copytree",)),
)


@pytest.fixture(scope="session")
def library() -> Corpus:
    """The running Python's whole standard library."""
    return read_standard_library()


@pytest.fixture(scope="session")
def corpus() -> Corpus:
    """A few modules of it."""
    return read_standard_library(modules=MODULES)


@pytest.fixture(scope="session")
def encoder() -> Encoder:
    return Encoder(default_encoder())


@pytest.fixture(scope="session")
def tools(corpus: Corpus, tmp_path_factory: pytest.TempPathFactory) -> Tools:
    """A small real index, with a second library beside the modules."""
    return load_tools(corpus, cache=tmp_path_factory.mktemp("vectors"), settings=Settings(token_budget=300))


@pytest.fixture
def questions() -> tuple[Question, ...]:
    return QUESTIONS
