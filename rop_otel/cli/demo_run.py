"""What ``rop-otel demo`` does, step by step, with the words that go with it."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import cycle
from pathlib import Path

from opentelemetry.sdk.trace.export import SpanExporter
from opentelemetry.trace import TracerProvider
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

import rop_otel as rop
from rop_otel.cli.demo_report import print_fault, print_faults, print_next_steps, print_summary
from rop_otel.cli.page import assessed_set, claim, save_page
from rop_otel.cli.terminal import create_console
from rop_otel.errors import ConfigurationError, remedy
from rop_otel.export import Monitoring
from rop_otel.monitor.in_process import InProcess, in_process
from rop_otel.page import AssessedSet, Carried
from rop_otel.reference.assembly import Task, files_task, load_tools, make_pipeline, standard_library_task
from rop_otel.reference.faults import FAULTS, Injection, find_fault
from rop_otel.reference.libraries import rival_distributions
from rop_otel.reference.models import ModelFiles
from rop_otel.reference.pipeline import Outcome, Pipeline
from rop_otel.reference.query import QueryForm
from rop_otel.reference.recording import KeptSpans, file_exporter, recording_provider, write_resolver
from rop_otel.reference.stage_widths import Settings
from rop_otel.reference.summary import summarise
from rop_otel.reference.tools import Tools
from rop_otel.replay import replay
from rop_otel.replay.handoff_report_text import counted

SERVICE = "rop-otel-demo"
DEFAULT_PORT = 9464
DEFAULT_PAGE_PORT = 9465
_INTRODUCTION = (
    "For each question, an object is selected and a hybrid pipeline looks for passages of it.\n"
    "The monitor watches: does the selected object reach the reader, and if not, where is it lost?\n"
)
NOT_CAUGHT, NO_EFFECT = 1, 2
"""Exit codes of an injected fault that the monitor missed, and of one that these questions cannot show."""

PAUSE_SECONDS = 0.25
"""Between two questions while serving: a load that a laptop does not notice."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What was asked for on the command line."""

    corpus: tuple[Path, ...] = ()
    questions: tuple[Path, ...] = ()
    query: QueryForm = "question"
    fault: str | None = None
    export: Path | None = None
    html: Path | None = None
    serve: bool = False
    port: int | None = None
    page_port: int | None = None
    limit: int | None = None
    encoder: ModelFiles | None = None
    cross_encoder: ModelFiles | None = None


def run_demo(request: Request, console: Console) -> int:
    """Run the demo and return its exit code: 1 where an injected fault was not caught, 2 where it had no effect.

    Raises:
        RopError: Something that the user named cannot be used, or the pipeline cannot run.
        OSError: The resolver cannot be written.
    """
    fault = find_fault(request.fault) if request.fault else None
    injection = Injection(fault) if fault else None
    code = 0
    started = time.perf_counter()
    task = _read(request, console)
    kept = KeptSpans()
    with _page_served(request, task, console) as live, _monitored(request, task, kept, live) as monitoring:
        tools = _index(request, task, console)
        pipeline = make_pipeline(tools, linked=task.linked, parts=injection.parts if injection else None)
        # Before anything that a closed terminal or pipe may end: spans without it cannot be assessed again.
        resolver_file = write_resolver(task.corpus.resolver, request.export) if request.export else None
        outcomes = list(_answers(pipeline, task, request.limit, console))
        summary = summarise(outcomes, canonical=task.corpus.resolver.canonical)
        print_summary(summary, console, linked=task.linked, seconds=time.perf_counter() - started)
        if fault and injection and not print_fault(fault, summary, console, acted=injection.acted):
            code = NOT_CAUGHT if injection.acted else NO_EFFECT
        if request.html:
            save_page([_page(kept, task)], request.html, title=_title(request))
        if request.serve:
            _serve(pipeline, task, request.limit, monitoring, live, console)
    print_next_steps(
        console,
        fault=request.fault,
        export=request.export,
        resolver=resolver_file,
        html=request.html,
        own=bool(request.corpus),
    )
    return code


def _page(kept: KeptSpans, task: Task) -> AssessedSet:
    """Return the handoffs so far as a set of the page: what replay says of their spans."""
    spans, carried = kept.take(), Carried()
    for span in spans:
        carried.add(span)
    return assessed_set("demo", replay(spans, resolver=task.corpus.resolver), carried)


def _title(request: Request) -> str:
    return "rop-otel demo" + (f" --fault {request.fault}" if request.fault else "")


def list_faults(console: Console) -> None:
    """Print every fault that can be injected."""
    print_faults(FAULTS.values(), console)


def _read(request: Request, console: Console) -> Task:
    task = files_task(list(request.corpus), list(request.questions)) if request.corpus else standard_library_task()
    console.print(_INTRODUCTION, style="dim", highlight=False, soft_wrap=True)
    for sentence in rival_distributions():
        console.print(f"[yellow]Note[/]       {sentence}", highlight=False, soft_wrap=True)
    corpus = task.corpus
    what = counted(len(corpus.items), "page" if request.corpus else "documented object")
    what += "" if request.corpus else f" of the standard library of Python {sys.version.split()[0]}"
    console.print(
        f"[bold]Corpus[/]     {what} in {counted(len(corpus.chunks), 'passage')}",
        highlight=False,
        soft_wrap=True,
    )
    if task.assumed:
        console.print(
            f"[yellow]Note[/]       in {task.assumed:,} of {counted(len(task.questions), 'question')} nothing says what"
            " was selected: the first judged object counts as selected",
            highlight=False,
            soft_wrap=True,
        )
    if task.left_out:
        console.print(
            f"[yellow]Note[/]       {counted(task.left_out, 'question')} left out: this Python has none of the"
            " judged objects",
            highlight=False,
            soft_wrap=True,
        )
    return task


def _index(request: Request, task: Task, console: Console) -> Tools:
    settings = Settings(query=request.query)
    started = time.perf_counter()
    with _progress("Indexing") as progress:
        bar = progress.add_task("Indexing", total=None, visible=False)

        def advance(done: int, total: int) -> None:
            if done == 1:
                console.print(f"[bold]Indexing[/]   {counted(total, 'passage')}, once ...", highlight=False)
            progress.update(bar, completed=done, total=total, visible=True)

        tools = load_tools(
            task.corpus,
            settings=settings,
            encoder=request.encoder,
            cross_encoder=request.cross_encoder,
            progress=advance,
        )
        fresh = progress.tasks[0].total is not None
    seconds = time.perf_counter() - started
    how = f"computed in {seconds:.0f} s and kept for the next run" if fresh else f"from the cache, {seconds:.1f} s"
    console.print(f"[bold]Vectors[/]    {tools.encoder.implementation}, {how}", highlight=False, soft_wrap=True)
    return tools


@contextmanager
def _page_served(request: Request, task: Task, console: Console) -> Iterator[InProcess | None]:
    """Serve the live page of what is asked, if that is wanted and its libraries are there."""
    missing = next((name for name in ("fastapi", "uvicorn") if find_spec(name) is None), None)
    if request.serve and missing:
        note = f"no live page, for {missing} is missing: {remedy('monitor')}"
        console.print(f"[yellow]Note[/]       {escape(note)}", highlight=False, soft_wrap=True)
    if missing or not request.serve:
        yield None
        return
    port = DEFAULT_PAGE_PORT if request.page_port is None else request.page_port
    advice = "choose another one with --page-port"
    with in_process(port, resolver=task.corpus.resolver, advice=advice) as live:
        yield live


@contextmanager
def _monitored(request: Request, task: Task, kept: KeptSpans, live: InProcess | None) -> Iterator[Monitoring]:
    """Set the monitor up before anything slow begins, so that a port or file that cannot be used is known at once."""
    exporters: list[SpanExporter] = [file_exporter(request.export)] if request.export else []
    if request.html:
        claim(request.html)
        exporters.append(kept)
    if live:
        exporters.append(live.exporter)
    provider = recording_provider(*exporters, service_name=SERVICE) if exporters else None
    try:
        yield _configured(request, task, provider)
    finally:
        rop.shutdown()
        if provider is not None:
            provider.shutdown()


def _configured(request: Request, task: Task, provider: TracerProvider | None) -> Monitoring:
    port = request.port if request.port is not None else DEFAULT_PORT
    monitoring = rop.configure(
        service_name=SERVICE,
        resolver=task.corpus.resolver,
        metrics_port=port if request.serve else None,
        tracer_provider=provider,
    )
    if request.serve and monitoring.metrics_port is None:
        raise ConfigurationError(f"/metrics cannot be served on port {port}; choose another one with --port")
    return monitoring


def _answers(pipeline: Pipeline, task: Task, limit: int | None, console: Console) -> Iterator[Outcome]:
    questions = task.questions[:limit]
    started = time.perf_counter()
    with _progress("Asking") as progress:
        for question in progress.track(questions, description="Asking"):
            yield pipeline.answer(question)
    seconds = time.perf_counter() - started
    each = 1000 * seconds / max(len(questions), 1)
    console.print(f"[bold]Questions[/]  {len(questions):,} answered, {each:.0f} ms each", highlight=False)


def _serve(
    pipeline: Pipeline,
    task: Task,
    limit: int | None,
    monitoring: Monitoring,
    live: InProcess | None,
    console: Console,
) -> None:
    try:
        console.print(
            f"\n[bold green]Serving[/] http://{monitoring.metrics_host}:{monitoring.metrics_port}/metrics"
            " and answering on; stop with Ctrl-C",
            highlight=False,
            soft_wrap=True,
        )
        if live:
            console.print(
                f"[bold green]Page[/]    {live.url} shows what arrives, and every handoff: open it in a browser",
                highlight=False,
                soft_wrap=True,
            )
        for question in cycle(task.questions[:limit]):
            pipeline.answer(question)
            time.sleep(PAUSE_SECONDS)
    except KeyboardInterrupt:
        console.print("Stopped.")


def _progress(what: str) -> Progress:
    """Return a bar on stderr that leaves nothing behind; nothing where that is no terminal."""
    columns = (TextColumn(f"{what:10}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    console = create_console(stderr=True)
    return Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
