"""A folder of frozen rankings opened: planned rows, pages, and the rankings that are there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import msgspec

from rop_otel.core.profile.resolver import Resolver
from rop_otel.errors import InputError
from rop_otel.study.frozen_files import CORPUS_FILE, PAGES_FILE, FrozenFiles, decode, decode_object
from rop_otel.study.planned_rows import PlannedRow, read_planned_rows

RANKINGS: Final = "rankings"


class RankedRow(msgspec.Struct, frozen=True):
    """A line of a ranking.

    Args:
        id: The question.
        selector: Who selected.
        form: The query form.
        rule: The handoff rule.
        query: The text that was run; None where none was.
        ids: What was returned, whatever stands there; None where nothing was run.
        scores: Of each.
        reason: Why nothing was run; None where something was.
    """

    id: str
    selector: str
    form: str
    rule: str
    query: str | None = None
    ids: Any = None
    scores: Any = None
    reason: str | None = None


class RankingName(NamedTuple):
    """A query form and a handoff rule."""

    form: str
    rule: str

    @property
    def file(self) -> str:
        """The file of its ranking, as the manifest has it."""
        return f"{RANKINGS}/{self.form}.{self.rule.replace(':', '+')}.jsonl"


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    """An opened folder.

    Args:
        files: Its files.
        rows: The planned rows, in the order of the questions.
        resolver: Every page that is named anywhere, each an object of its own.
        titles: Their titles by id.
        rankings: The rankings that are there, by form, then rule, in the order of the manifest.
    """

    files: FrozenFiles = field(repr=False)
    rows: tuple[PlannedRow, ...] = field(repr=False)
    resolver: Resolver = field(repr=False)
    titles: Mapping[str, str] = field(repr=False)
    rankings: tuple[RankingName, ...]

    @property
    def depth(self) -> int:
        """How deep every list is stored."""
        return self.files.manifest.depth

    def ranked_rows(self, name: RankingName) -> Iterator[RankedRow]:
        """Yield the rows of a ranking.

        Raises:
            InputError: The file has changed or is missing, or a line is no row of it.
        """
        place = self.files.place(name.file)
        selectors = {row.selector for row in self.rows}
        for number, line in self.files.lines(name.file):
            row = decode(line, RankedRow, file=place, line=number)
            if (row.form, row.rule) != name:
                why = f"a row of form {row.form!r} and rule {row.rule!r} in the file of {name.form!r} and {name.rule!r}"
                raise InputError(why, file=place, line=number)
            if row.selector not in selectors:
                raise InputError(f"no row is planned for selector {row.selector!r}", file=place, line=number)
            yield row

    def corpus(self) -> dict[str, Any]:
        """Return what is known of the whole corpus.

        Raises:
            InputError: The file has changed or is missing, or is no JSON object.
        """
        return decode_object(self.files.read(CORPUS_FILE), file=self.files.place(CORPUS_FILE))


class _Page(msgspec.Struct, frozen=True):
    id: str
    title: str = ""


def read_study(folder: str) -> Study:
    """Open a folder of frozen rankings; the rankings themselves are read when they are asked for.

    Raises:
        InputError: A file is missing, has changed since the manifest was written, or is not what it should be.
    """
    files = FrozenFiles(folder)
    titles = _read_titles(files)
    resolver = Resolver({page: (page,) for page in titles}, version=f"manifest-{files.sha256}")
    manifest = files.manifest
    names = tuple(RankingName(form, rule) for form in manifest.forms for rule in manifest.rules)
    present = tuple(name for name in names if name.file in files)
    if not present:
        raise InputError("holds no rankings", file=folder)
    rows = read_planned_rows(files, resolver)
    return Study(files=files, rows=rows, resolver=resolver, titles=titles, rankings=present)


def _read_titles(files: FrozenFiles) -> dict[str, str]:
    titles: dict[str, str] = {}
    place = files.place(PAGES_FILE)
    for number, line in files.lines(PAGES_FILE):
        page = decode(line, _Page, file=place, line=number)
        if not page.id or page.id in titles:
            raise InputError(f"a page's id is empty or given twice: {page.id!r}", file=place, line=number)
        titles[page.id] = page.title
    return titles
