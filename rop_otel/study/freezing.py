"""Freezing rankings: every planned row × query form × rule, with a manifest of all that went in and came out."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Final

from rop_otel.core.ranking import HandoffRule, Lost, Query, QueryForm, Ranked, StudyRow
from rop_otel.errors import InputError
from rop_otel.safety.digested_files import digest_of
from rop_otel.study.folder_lock import only_writer
from rop_otel.study.question_files import PlannedRows
from rop_otel.study.ranking_file import RankingFile, json_line, write_whole
from rop_otel.study.study_corpus import StudyCorpus
from rop_otel.study.title_lookup import check_titles

FORMAT: Final = 1
MANIFEST: Final = "manifest.json"
_UNDER_WAY: Final = "manifest.json.part"
_RANKINGS: Final = "rankings"
_BATCH: Final = 64
"""Rows ranked and written at a time, by all forms together, which often ask for the same words. Batches are the same in
every run, also where only some forms are behind, so that every run computes alike."""

_CHECKED: Final = ("title", "bm25_title")
"""Rules that the title check is made of."""

_LISTED: Final = 20
"""Most colliding titles that are listed."""

Progress = Callable[[str, int, int], None]
"""Called with what is being done, how much of it is, and how much there is."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What is to be frozen.

    Args:
        corpus: The pages.
        planned: The rows.
        forms: Query forms.
        rules: Handoff rules.
        depth: Most pages in a list.
        facts: What else the manifest says: versions, models, functions.
        notes: Sentences on how rules were run.
    """

    corpus: StudyCorpus
    planned: PlannedRows
    forms: tuple[QueryForm, ...]
    rules: tuple[HandoffRule, ...]
    depth: int
    facts: dict[str, Any]
    notes: tuple[str, ...] = ()

    @property
    def document(self) -> dict[str, Any]:
        """The manifest but for the outputs: what makes this plan another than others."""
        inputs = (*self.corpus.inputs, *self.planned.inputs)
        return {
            "format": FORMAT,
            "depth": self.depth,
            "forms": [form.name for form in self.forms],
            "rules": [rule.name for rule in self.rules],
            "planned": len(self.planned.rows),
            "inputs": [{"name": one.name, "bytes": one.bytes, "sha256": one.sha256} for one in inputs],
            **self.facts,
            "notes": [*self._own_notes(), *self.notes],
        }

    def _own_notes(self) -> Iterator[str]:
        if self.planned.assumed:
            yield (
                f"in {self.planned.assumed:,} of {len(self.planned.rows):,} rows nothing says what was selected:"
                " the first judged page that the corpus has counts as selected"
            )
        if self.corpus.repeated:
            yield f"lines of the corpus that repeat an earlier page: {self.corpus.repeated:,}; each page counts once"
        if self.corpus.collisions:
            yield (
                f"titles that belong to more than one page: {len(self.corpus.collisions):,}; the rule title returns"
                " all pages of such a title, by ID"
            )


def freeze(plan: Plan, folder: Path, progress: Progress) -> bool:
    """Rank every planned row by every form and rule into a folder, or go on with what was stopped there.

    Args:
        plan: What is to be frozen.
        folder: Where to; made where it is not there.
        progress: Called with the items done so far and in all.

    Returns:
        Whether anything had to be ranked; False where the folder was complete.

    Raises:
        InputError: The folder holds rankings of another plan, a file changed since its manifest, or another process
            writes to it.
        OSError: It cannot be written.
    """
    with only_writer(folder):
        return _freeze(plan, folder, progress)


def _freeze(plan: Plan, folder: Path, progress: Progress) -> bool:
    document = plan.document
    if (folder / MANIFEST).exists():
        _check_same(folder / MANIFEST, document)
        _check_outputs(folder)
        return False
    (folder / _RANKINGS).mkdir(exist_ok=True)
    if (folder / _UNDER_WAY).exists():
        _check_same(folder / _UNDER_WAY, document)
    elif any((folder / _RANKINGS).iterdir()):
        raise InputError("it holds rankings without a manifest; name another folder", file=str(folder))
    write_whole(folder / _UNDER_WAY, _indented(document))
    write_whole(folder / "questions.jsonl", b"".join(map(json_line, plan.planned.frozen)))
    files = _rank(plan, folder / _RANKINGS, progress)
    write_whole(folder / "corpus.json", _indented(_corpus_document(plan, folder, progress)))
    write_whole(folder / "pages.jsonl", b"".join(_page_lines(plan, files)))
    outputs = sorted(["questions.jsonl", "corpus.json", "pages.jsonl", *(f"{_RANKINGS}/{file.name}" for file in files)])
    write_whole(folder / MANIFEST, _indented({**document, "outputs": [_output(folder, name) for name in outputs]}))
    (folder / _UNDER_WAY).unlink()
    return True


def _rank(plan: Plan, folder: Path, progress: Progress) -> list[RankingFile]:
    rows = plan.planned.rows
    files = {
        (form.name, rule.name): RankingFile(folder, form.name, rule.name, rows, batch=_BATCH)
        for form in plan.forms
        for rule in plan.rules
    }
    total = len(rows) * len(files)
    for first in range(0, len(rows), _BATCH):
        batch = rows[first : first + _BATCH]
        queries = {form.name: [_query(form, row) for row in batch] for form in plan.forms}
        for rule in plan.rules:
            if all(files[form, rule.name].done > first for form in queries):
                continue
            found = _ranked(rule, [*chain(*queries.values())], plan.depth)
            for place, (form, asked) in enumerate(queries.items()):
                if files[form, rule.name].done <= first:
                    files[form, rule.name].append(asked, found[place * len(batch) :][: len(batch)])
            progress("ranking", sum(one.done for one in files.values()), total)
    return list(files.values())


def _query(form: QueryForm, row: StudyRow) -> Query | Lost:
    text = form.query(row)
    if isinstance(text, Lost):
        return text
    return Query(text, row) if text.strip() else Lost("empty_query")


def _ranked(rule: HandoffRule, queries: Sequence[Query | Lost], depth: int) -> list[Ranked | Lost]:
    asked = [query for query in queries if isinstance(query, Query)]
    found = iter(rule.rank(asked, depth) if asked else ())
    return [query if isinstance(query, Lost) else next(found) for query in queries]


def _corpus_document(plan: Plan, folder: Path, progress: Progress) -> dict[str, Any]:
    corpus = plan.corpus
    rules = {rule.name: rule for rule in plan.rules}
    checked: dict[str, HandoffRule] = {name: rules[name] for name in _CHECKED if name in rules}
    kept = folder / "title_check.part"
    return {
        "passages": len(corpus.pages),
        "titles": len({page.title for page in corpus.pages}),
        "collisions": corpus.collisions[:_LISTED],
        "collision_count": len(corpus.collisions),
        "casefolded_collision_count": len(corpus.casefolded_collisions),
        "title_check": check_titles(corpus.pages, checked, depth=plan.depth, kept=kept, progress=progress),
    }


def _page_lines(plan: Plan, files: Sequence[RankingFile]) -> Iterator[bytes]:
    by_id = plan.corpus.by_id
    named = {page for file in files for page in file.ids()}
    for record in plan.planned.frozen:
        named.update(record["gold_ids"])
        named.update([record["selected_id"]] if record["selected_id"] else [])
    for page_id in sorted(named & by_id.keys()):
        page = by_id[page_id]
        digest = hashlib.sha256(page.text.encode()).hexdigest()
        yield json_line({"id": page.id, "title": page.title, "text_sha256": digest})


def _check_same(file: Path, document: dict[str, Any]) -> None:
    try:
        held = json.loads(file.read_bytes())
        held.pop("outputs", None)
    except (ValueError, AttributeError):
        raise InputError("it is no manifest of rankings", file=str(file)) from None
    changed = sorted(key for key in document.keys() | held.keys() if document.get(key) != held.get(key))
    if changed:
        what = f"it is of other rankings than these ({', '.join(changed)} differ); name another folder"
        raise InputError(what, file=str(file))


def _check_outputs(folder: Path) -> None:
    for output in json.loads((folder / MANIFEST).read_bytes())["outputs"]:
        file = folder / output["name"]
        if not file.is_file() or digest_of(str(file)).sha256 != output["sha256"]:
            raise InputError("it changed since the manifest was written; rank into another folder", file=str(file))


def _output(folder: Path, name: str) -> dict[str, Any]:
    digest = digest_of(str(folder / name))
    return {"name": name, "bytes": digest.bytes, "sha256": digest.sha256}


def _indented(document: dict[str, Any]) -> bytes:
    return json.dumps(document, ensure_ascii=False, indent=1).encode() + b"\n"
