"""What ``rop-otel study rank`` and ``run`` do: rules and forms of the reference pipeline, frozen by the study."""

from __future__ import annotations

import platform
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from rop_otel.errors import ConfigurationError
from rop_otel.reference.forms import FORMS, find_form
from rop_otel.reference.models import ModelFiles
from rop_otel.reference.named_callable import load_named
from rop_otel.reference.rules import RULES, Rules
from rop_otel.study.freezing import Plan, Progress, freeze
from rop_otel.study.question_files import read_rows
from rop_otel.study.study_corpus import read_corpus
from rop_otel.version import installed_version

DEFAULT_FORMS = ("question", "title")

_LIBRARIES = {
    "faiss": ("faiss-cpu", "faiss-gpu"),
    "numpy": ("numpy",),
    "onnxruntime": ("onnxruntime", "onnxruntime-gpu"),
}
"""What decides scores beside the models, and the distributions that it comes from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RankRequest:
    """What was asked for on the command line.

    Args:
        corpus, questions: Files.
        rules, forms: Names, or ``name=module:function``; none: the defaults.
        depth: Most pages in a list.
        out: Folder to write to.
        encoder, cross_encoder: Models by path.
    """

    corpus: tuple[Path, ...]
    questions: tuple[Path, ...]
    rules: tuple[str, ...]
    forms: tuple[str, ...]
    depth: int
    out: Path
    encoder: ModelFiles | None = None
    cross_encoder: ModelFiles | None = None


def freeze_rankings(request: RankRequest, progress: Progress) -> str:
    """Freeze rankings and return in a sentence what is there now.

    Raises:
        RopError: Something that the user named cannot be used.
        OSError: The folder cannot be written.
    """
    _keep_inputs(request)
    own_rules, own_forms = load_named(request.rules, taken=RULES), load_named(request.forms, taken=FORMS)
    forms = tuple(find_form(name, own_forms.get(name)) for name in _names(request.forms or DEFAULT_FORMS))
    corpus = read_corpus(request.corpus)
    rows = read_rows(request.questions, corpus.by_id)
    rules = Rules(
        corpus.pages,
        encoder=request.encoder,
        cross_encoder=request.cross_encoder,
        progress=lambda done, total: progress("encoding pages", done, total),
    )
    found = tuple(rules.find(name, own_rules) for name in _names(request.rules or tuple(RULES)))
    plan = Plan(
        corpus=corpus,
        planned=rows,
        forms=forms,
        rules=found,
        depth=request.depth,
        facts={
            "rop_otel": installed_version(),
            "versions": _versions(models=bool(rules.models)),
            "models": dict(sorted(rules.models.items())),
            "functions": {
                **{f"rule {one.name}": one.sha256 for one in own_rules.values()},
                **{f"form {one.name}": one.sha256 for one in own_forms.values()},
            },
        },
        notes=rules.notes(),
    )
    ranked = freeze(plan, request.out, progress)
    lists = f"{len(forms) * len(found)} rankings of {len(rows.rows):,} planned rows over {len(corpus.pages):,} pages"
    return f"{lists} {'are frozen' if ranked else 'were frozen already'} in {request.out}"


def _names(texts: Sequence[str]) -> tuple[str, ...]:
    """Return names in order, each once, without the functions that belong to some of them."""
    return tuple(dict.fromkeys(text.partition("=")[0] for text in texts))


def _keep_inputs(request: RankRequest) -> None:
    folder = request.out.resolve()
    for file in (*request.corpus, *request.questions):
        if file.resolve().is_relative_to(folder):
            raise ConfigurationError(f"{str(file)!r} is in the folder to write to; name another folder with --out")


def _versions(*, models: bool) -> dict[str, str]:
    found = {name: _installed(names) for name, names in _LIBRARIES.items()} if models else {}
    return {"python": platform.python_version(), "sqlite": sqlite3.sqlite_version, **found}


def _installed(distributions: Iterable[str]) -> str:
    for name in distributions:
        try:
            return version(name)
        except PackageNotFoundError:
            continue
    return "unknown"
