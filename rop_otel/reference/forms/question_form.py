"""The query form ``question``: the question as it was asked."""

from __future__ import annotations

from rop_otel.core.ranking import Lost, StudyRow


class QuestionForm:
    """Looks for the question, and knows nothing of the selection."""

    name = "question"

    def query(self, row: StudyRow) -> str | Lost:
        """Return the question."""
        return Lost("no_question") if row.question is None else row.question
