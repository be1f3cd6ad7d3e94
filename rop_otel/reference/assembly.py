"""Puts the pipeline together: corpus, models, index, questions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from rop_otel.reference.corpus import (
    Corpus,
    Question,
    bundled_questions,
    read_corpus,
    read_questions,
    read_standard_library,
)
from rop_otel.reference.encoder import Encoder
from rop_otel.reference.index import build_index
from rop_otel.reference.index.cache import Progress
from rop_otel.reference.models import ModelFiles, default_encoder
from rop_otel.reference.parts import Parts
from rop_otel.reference.pipeline import Pipeline
from rop_otel.reference.selector import Selector
from rop_otel.reference.session import Session
from rop_otel.reference.stage_widths import Settings
from rop_otel.reference.tools import Tools
from rop_otel.reference.words import Stemmer


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """Questions and the corpus in which their answers are searched.

    Args:
        corpus: The corpus.
        questions: The questions, with the selection of each, if it is known beforehand.
        linked: Whether the selector picks the object from the question's text.
        assumed: Questions whose selection was not recorded and is taken from the judged objects.
        left_out: Questions none of whose judged objects this corpus has.
    """

    corpus: Corpus
    questions: tuple[Question, ...]
    linked: bool
    assumed: int = 0
    left_out: int = 0


def standard_library_task() -> Task:
    """Return the bundled questions over the running Python's standard library.

    Judged objects that this version's library does not have are left out, and so are questions without any other.
    """
    corpus, bundled = read_standard_library(), bundled_questions()
    known = [replace(question, judged=corpus.known(question.judged)) for question in bundled]
    kept = tuple(question for question in known if question.judged)
    return Task(corpus=corpus, questions=kept, linked=True, left_out=len(bundled) - len(kept))


def files_task(corpus_files: list[Path], question_files: list[Path]) -> Task:
    """Return questions of one's own over a corpus of one's own.

    If a question's line has no ``selected_id``, its first judged object that the corpus has counts as selected. If the
    corpus has none of them, the first judged object does, so that the question is a resolution error and not skipped.

    Raises:
        InputError: A file or line cannot be used.
    """
    corpus, assumed, questions = read_corpus(corpus_files), 0, []
    for question in read_questions(question_files):
        if not question.recorded and question.judged:
            assumed += 1
            questions.append(replace(question, selected=(corpus.known(question.judged) or question.judged)[0]))
        else:
            questions.append(question)
    return Task(corpus=corpus, questions=tuple(questions), linked=False, assumed=assumed)


def load_tools(
    corpus: Corpus,
    *,
    settings: Settings | None = None,
    encoder: ModelFiles | None = None,
    cross_encoder: ModelFiles | None = None,
    cache: Path | None = None,
    progress: Progress | None = None,
) -> Tools:
    """Load the models and index a corpus.

    Args:
        corpus: What to index.
        settings: Sizes and limits.
        encoder: A sentence encoder; the pinned default otherwise.
        cross_encoder: A cross-encoder for reranking; late interaction otherwise.
        cache: Folder for cached vectors; the user's by default.
        progress: Called with the passages indexed so far and in all.

    Raises:
        PipelineError: A model or library is missing or not the expected one.
    """
    loaded = Encoder(encoder or default_encoder())
    return Tools(
        index=build_index(corpus, loaded, cache=cache, progress=progress),
        encoder=loaded,
        stemmer=Stemmer(),
        settings=settings or Settings(),
        cross_encoder=Session(cross_encoder) if cross_encoder else None,
    )


def make_pipeline(tools: Tools, *, linked: bool, parts: Parts | None = None) -> Pipeline:
    """Return the pipeline over loaded tools.

    Args:
        tools: Index, models, settings.
        linked: Whether the selector picks the object from the question's text.
        parts: The exchangeable parts.
    """
    selector = Selector(tools.index, tools.encoder, tools.stemmer) if linked else None
    return Pipeline(tools, selector=selector, parts=parts)
