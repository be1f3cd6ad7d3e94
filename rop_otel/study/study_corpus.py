"""The pages that a study ranks, and which of their titles name more than one page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from rop_otel.core.ranking import Page
from rop_otel.errors import InputError
from rop_otel.safety.digested_files import Digest
from rop_otel.safety.json_lines import is_unicode, read_objects, text_of
from rop_otel.study.study_inputs import Input


@dataclass(frozen=True, kw_only=True)
class StudyCorpus:
    """Pages in the order of their files.

    Args:
        pages: At least one; no two of one ID.
        inputs: The files that they were read from.
        repeated: How many lines repeat a page that was there before, as where files share pages.
    """

    pages: tuple[Page, ...]
    inputs: tuple[Input, ...]
    repeated: int = 0

    @cached_property
    def by_id(self) -> dict[str, Page]:
        """Pages by ID."""
        return {page.id: page for page in self.pages}

    @cached_property
    def collisions(self) -> list[str]:
        """Titles that more than one page has, in code point order."""
        return _repeated(page.title for page in self.pages)

    @cached_property
    def casefolded_collisions(self) -> list[str]:
        """Case-folded titles that more than one page has, in code point order."""
        return _repeated(page.title.casefold() for page in self.pages)


def read_corpus(files: Sequence[Path]) -> StudyCorpus:
    """Read pages from JSON Lines, plain, gzip or zstd: ``{id, title, text}``. A page that is there twice counts once.

    Raises:
        InputError: A file or line cannot be used, two pages that differ have one ID, or there is no page.
    """
    pages: dict[str, Page] = {}
    inputs, lines = [], 0
    for file in files:
        digest = Digest()
        for line, fields in read_objects(file, digest=digest):
            page = _page(fields, file=str(file), line=line)
            if pages.setdefault(page.id, page) != page:
                what = f"the id {page.id!r} is there twice, with another title or text"
                raise InputError(what, file=str(file), line=line)
            lines += 1
        inputs.append(Input(name=file.name, bytes=digest.bytes, sha256=digest.sha256))
    if not pages:
        raise InputError("no page in it", file=", ".join(map(str, files)))
    return StudyCorpus(pages=tuple(pages.values()), inputs=tuple(inputs), repeated=lines - len(pages))


def _page(fields: dict[str, object], *, file: str, line: int) -> Page:
    text = fields.get("text")
    if not isinstance(text, str) or not is_unicode(text):
        raise InputError(f"'text' has to be a string, not {text!r:.80}", file=file, line=line)
    return Page(
        id=text_of(fields, "id", file=file, line=line), title=text_of(fields, "title", file=file, line=line), text=text
    )


def _repeated(titles: Iterable[str]) -> list[str]:
    return sorted(title for title, count in Counter(titles).items() if count > 1)
