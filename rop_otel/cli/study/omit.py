"""``rop-otel study omit``: take the selected passage away, and see what becomes of the answer.

Long because a command's signature lists its options.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from rop_otel.cli.run_report import Format, FormatOption
from rop_otel.cli.study.options import IntervalsOption, SeedOption, require_libraries
from rop_otel.cli.study.progress import shown_progress
from rop_otel.cli.terminal import say, say_json
from rop_otel.errors import ConfigurationError

if TYPE_CHECKING:
    from rop_otel.study.omission.deletion import Described
    from rop_otel.study.omission.deletion_items import Items
    from rop_otel.study.omission.reader_calls import Reader

_CALLS, _READER = "Calls", "Reader"
_SERVER_CALLS: Final = 4
"""How many calls a server gets at once, where nothing else was asked for."""


def omit(
    folder: Annotated[Path, typer.Argument(metavar="DIR", show_default=False, help="What study rank wrote.")],
    corpus: Annotated[
        list[str], typer.Option(metavar="FILE...", show_default=False, help="The pages that were ranked.")
    ],
    out: Annotated[Path, typer.Option(metavar="FOLDER", show_default=False, help="Calls and report; continued.")],
    form: Annotated[str, typer.Option(help="Query form of the rankings.")] = "title",
    rule: Annotated[str, typer.Option(help="Their handoff rule.")] = "bm25_title_body",
    at: Annotated[int, typer.Option(min=1, metavar="K", help="How many passages the reader is shown.")] = 5,
    reader: Annotated[
        str | None,
        typer.Option(metavar="MODULE:FUNCTION", help="Yours: (question, passages) -> answer.", rich_help_panel=_READER),
    ] = None,
    reader_url: Annotated[
        str | None,
        typer.Option(metavar="URL", help="A server with OpenAI's chat completions.", rich_help_panel=_READER),
    ] = None,
    model: Annotated[str | None, typer.Option(help="Its model.", rich_help_panel=_READER)] = None,
    temperature: Annotated[
        float | None, typer.Option(min=0, help="Of its sampling; else as it has it.", rich_help_panel=_READER)
    ] = None,
    key_env: Annotated[
        str, typer.Option(metavar="NAME", help="Environment variable that holds its key.", rich_help_panel=_READER)
    ] = "OPENAI_API_KEY",
    repeats: Annotated[int, typer.Option(min=1, help="How often each is asked.", rich_help_panel=_CALLS)] = 3,
    attempts: Annotated[int, typer.Option(min=1, help="Attempts of one call.", rich_help_panel=_CALLS)] = 2,
    seconds: Annotated[float, typer.Option(min=0.01, help="For one attempt.", rich_help_panel=_CALLS)] = 60,
    parallel: Annotated[
        int | None, typer.Option(min=1, max=256, help="At once; 4 for a server, else 1.", rich_help_panel=_CALLS)
    ] = None,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", metavar="", help="Make failed calls again.", rich_help_panel=_CALLS)
    ] = False,
    answers: Annotated[
        list[str] | None,
        typer.Option(metavar="FILE...", help="Recorded answers: {id, form, rule, answer}; adds their association."),
    ] = None,
    intervals: IntervalsOption = 10_000,
    seed: SeedOption = 1,
    output_format: FormatOption = Format.TEXT,
) -> None:
    """Ask a reader with the selected passage, without it, and without another one instead.

    Without --reader and --reader-url the demo's extractive reader answers, which is no language model.

    Exit code 0: every call was answered; 1: some failed, and score zero; 2: something given cannot be used.
    """
    from rop_otel.study.frozen_study import read_study  # imported here: --help need not wait for it
    from rop_otel.study.importing.written_files import json_document
    from rop_otel.study.intervals import Bootstrap
    from rop_otel.study.omission.deletion import Deletion, run_deletion
    from rop_otel.study.omission.deletion_text import report_lines
    from rop_otel.study.omission.reader_calls import Policy

    require_libraries("numpy")
    if (reader_url is None) != (model is None):
        raise ConfigurationError("--reader-url and --model go together")
    if reader is not None and reader_url is not None:
        raise ConfigurationError("--reader and --reader-url exclude each other")
    if temperature is not None and reader_url is None:
        raise ConfigurationError("--temperature says how a server samples: give --reader-url too")
    if reader is None and reader_url is None and parallel not in (None, 1):
        raise ConfigurationError("the extractive reader answers one question at a time: leave --parallel out")
    server = None if reader_url is None or model is None else _Server(reader_url, model, temperature, key_env, seconds)
    described, create = _server_reader(server) if server else _own_reader(reader) if reader else _extractive_reader()
    policy = Policy(
        attempts=attempts,
        seconds=seconds,
        parallel=parallel or (_SERVER_CALLS if server else 1),
        backoff=1.0 if server else 0.0,
    )
    asked = Deletion(
        form=form,
        rule=rule,
        at=at,
        repeats=repeats,
        bootstrap=Bootstrap(draws=intervals, seed=seed),
        retry_failed=retry_failed,
    )
    with shown_progress() as progress:
        report = run_deletion(
            read_study(str(folder)),
            corpus,
            asked,
            create_reader=create,
            described=described,
            policy=policy,
            out=out,
            answers=answers or (),
            progress=lambda done, total: progress("asking the reader", done, total),
        )
    if output_format is Format.JSON:
        say_json([json_document(report)])
    else:
        for line in report_lines(report):
            say(line)
    raise typer.Exit(int(any(arm["failed"] for arm in report["arms"].values())))


@dataclass(frozen=True, slots=True)
class _Server:
    url: str
    model: str
    temperature: float | None
    key_env: str
    seconds: float


_Made = tuple["Described", "Callable[[Items], Reader]"]


def _server_reader(server: _Server) -> _Made:
    from rop_otel.study.omission.chat_server import ChatServer
    from rop_otel.study.omission.deletion import Described

    asked = ChatServer(
        server.url,
        model=server.model,
        key=os.environ.get(server.key_env, "").strip() or None,
        temperature=server.temperature,
        seconds=server.seconds,
    )
    described = Described(
        name=server.model,
        settings={"url": server.url, "temperature": server.temperature},
        note="It was asked over the network; whether it answers the same again is up to its server.",
    )
    return described, lambda items: asked


def _own_reader(name: str) -> _Made:
    from rop_otel.safety.callables import load_callable
    from rop_otel.study.omission.deletion import Described

    function: Reader = load_callable(name)
    return Described(name=name, settings={}, note="It is a function of the user's."), lambda items: function


def _extractive_reader() -> _Made:
    from rop_otel.study.omission.deletion import Described

    def create(items: Items) -> Reader:
        from rop_otel.reference.quoting_reader import ExtractiveReader

        texts = {passage.id: passage.text for item in items.items for passage in item.arms["intact"]}
        return ExtractiveReader(texts.values())

    note = "It is no language model: it quotes whole sentences, so that exact matches are rare and F1 says more."
    return Described(name="extractive", settings={}, note=note), create
