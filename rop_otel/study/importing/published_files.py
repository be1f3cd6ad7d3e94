"""One import: published files in, our JSON Lines out, and an account of both."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Final, Literal, TypeVar

from rop_otel.errors import ConfigurationError
from rop_otel.safety.digested_files import Digest
from rop_otel.study.importing import beir, linked_tables, run_files
from rop_otel.study.importing.problems import Problems, Row
from rop_otel.study.importing.written_files import json_document, unique_lines, write_file
from rop_otel.study.ranking_file import json_line

Format = Literal["hybridqa", "ottqa", "trec", "ranx", "beir"]
ACCOUNT: Final = "import.json"
_T = TypeVar("_T")
_PLAIN_NAME = re.compile(r"[^\w:-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """The published files, as far as there are any.

    Args:
        questions: Questions; for TREC and ranx lines of a query, a tab and its text.
        tables: Tables, a file or a folder.
        passages: Passages, a file or a folder.
        run: Files of rankings.
        qrels: Files of judgments.
        folder: A BEIR folder.
        split: Which of its judgments.
        form: The query form that the rankings are filed under.
    """

    questions: tuple[str, ...] = ()
    tables: tuple[str, ...] = ()
    passages: tuple[str, ...] = ()
    run: tuple[str, ...] = ()
    qrels: tuple[str, ...] = ()
    folder: str | None = None
    split: str = "test"
    form: str = "question"


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """What an import did.

    Args:
        account: The content of ``import.json``: inputs, outputs with their rows, and what was left out.
        problems: Rows that could not be used.
    """

    account: dict[str, Any]
    problems: Problems


def import_files(kind: Format, sources: Sources, out: Path) -> Imported:
    """Read published files, write ours into a folder, and account for every row.

    Args:
        kind: The format.
        sources: Where they are.
        out: The folder, made where it is missing: ``pages.jsonl``, ``questions.jsonl``, ``tables.jsonl``,
            ``judgments.jsonl`` and ``rankings/``, as far as there is something for them; ``import.json`` with the
            account, and ``problems.jsonl`` with every row that could not be used.

    Raises:
        ConfigurationError: Nothing was named that this format has.
        InputError: A file cannot be read, or holds nothing of what it should.
    """
    job = _Job(out)
    (out / ACCOUNT).unlink(missing_ok=True)  # it would vouch for files of an earlier import
    if kind in ("hybridqa", "ottqa"):
        _import_tables(job, sources)
    elif kind == "beir":
        _import_beir(job, sources)
    elif kind == "trec":
        _import_runs(job, sources, run_files.read_trec_run, run_files.read_trec_qrels)
    else:
        _import_runs(job, sources, run_files.read_ranx_run, run_files.read_ranx_qrels)
    if not job.outputs:
        raise ConfigurationError(f"nothing was named that the format {kind} has: see --help")
    write_file(out / "problems.jsonl", map(json_line, job.problems.rows()))
    account = {
        "format": kind,
        "inputs": [
            {"name": os.path.basename(os.path.normpath(name)), "bytes": digest.bytes, "sha256": digest.sha256}
            for name, digest in job.digests
        ],
        "outputs": job.outputs,
        "left_out": job.left_out,
        "problems": len(job.problems),
    }
    write_file(out / ACCOUNT, [json_document(account)])
    return Imported(account=account, problems=job.problems)


class _Job:
    """What is read and written so far."""

    def __init__(self, out: Path) -> None:
        self.out = out
        self.problems = Problems()
        self.digests: list[tuple[str, Digest]] = []
        self.outputs: list[dict[str, Any]] = []
        self.left_out: dict[str, int] = {}

    def read(self, reader: Callable[[str, Digest, Problems], _T], file: str) -> _T:
        self.digests.append((file, Digest()))
        return reader(file, self.digests[-1][1], self.problems)

    def write(self, name: str, lines: Iterable[bytes]) -> None:
        count = 0

        def counted() -> Iterator[bytes]:
            nonlocal count
            for line in lines:
                count += 1
                yield line

        written = write_file(self.out / name, counted())
        self.outputs.append({**written, "name": name, "rows": count})

    def write_rows(self, name: str, rows: Iterable[Row], *, same_is_fine: bool = False) -> None:
        self.write(name, unique_lines(rows, self.problems, same_is_fine=same_is_fine))


def _import_tables(job: _Job, sources: Sources) -> None:
    for name, files, reader in (
        ("questions.jsonl", sources.questions, linked_tables.read_questions),
        ("tables.jsonl", sources.tables, linked_tables.read_tables),
        ("pages.jsonl", sources.passages, linked_tables.read_passages),
    ):
        if files:
            rows = chain.from_iterable(job.read(reader, file) for file in files)
            job.write_rows(name, rows, same_is_fine=name == "pages.jsonl")


def _import_beir(job: _Job, sources: Sources) -> None:
    if sources.folder is None:
        raise ConfigurationError("the format beir needs --folder")
    folder = sources.folder
    job.write_rows("pages.jsonl", job.read(beir.read_corpus, _there(folder, "corpus.jsonl")))
    judgments = job.read(beir.read_qrels, _there(folder, "qrels", f"{sources.split}.tsv"))
    job.write("judgments.jsonl", _judgment_lines(judgments))
    _write_questions(job, job.read(beir.read_queries, _there(folder, "queries.jsonl")), judgments)


def _import_runs(
    job: _Job,
    sources: Sources,
    read_run: Callable[[str, Digest, Problems], list[run_files.Run]],
    read_qrels: Callable[[str, Digest, Problems], run_files.Judgments],
) -> None:
    names: set[str] = set()
    for run in chain.from_iterable(job.read(read_run, file) for file in sources.run):
        rule = _PLAIN_NAME.sub("_", run.name)
        if rule in names:
            raise ConfigurationError(f"two runs are called {rule!r}: import each into a folder of its own")
        names.add(rule)
        file = f"rankings/{sources.form}.{rule.replace(':', '+')}.jsonl"
        job.write(file, map(json_line, run.rows(form=sources.form, rule=rule)))
    judgments: run_files.Judgments = {}
    for file in sources.qrels:
        for query, grades in job.read(read_qrels, file).items():
            for name, grade in grades.items():
                run_files.judge(judgments, query, name, grade, (file, 1), job.problems)
    if sources.qrels:
        job.write("judgments.jsonl", _judgment_lines(judgments))
    if sources.questions:
        _write_questions(
            job, chain.from_iterable(job.read(beir.read_topics, file) for file in sources.questions), judgments
        )


def _judgment_lines(judgments: run_files.Judgments) -> Iterator[bytes]:
    for query, grades in judgments.items():
        yield json_line({"id": query, "gold_ids": run_files.judged(grades), "grades": grades})


def _write_questions(job: _Job, questions: Iterable[Row], judgments: run_files.Judgments) -> None:
    """Write the questions that are judged, all of them where there are no judgments, and count the others."""
    found: set[str] = set()

    def rows() -> Iterator[Row]:
        for row in questions:
            key = row.fields["id"]
            found.add(key)
            if not judgments:
                yield row
            elif key in judgments:
                fields = row.fields | {"gold_ids": run_files.judged(judgments[key])}
                yield Row(file=row.file, line=row.line, fields=fields)
            else:
                job.left_out["questions without a judgment"] = job.left_out.get("questions without a judgment", 0) + 1

    job.write_rows("questions.jsonl", rows())
    if unknown := sum(key not in found for key in judgments):
        job.left_out["judged queries without a question"] = unknown


def _there(folder: str, *parts: str) -> str:
    """Return a file's name in a folder, that of the compressed one where only that is there."""
    file = os.path.join(folder, *parts)
    return next((file + end for end in ("", ".gz", ".zst") if os.path.exists(file + end)), file)
