"""The query forms that a record brings itself: ``rewrite`` and ``retrieval_fact``."""

from __future__ import annotations

from rop_otel.core.ranking import Lost, StudyRow


class RecordedForm:
    """Looks for the text that a record holds under the form's name.

    Args:
        name: The form, and the record's field.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def query(self, row: StudyRow) -> str | Lost:
        """Return the field's text."""
        text = row.fields.get(self.name)
        return text if isinstance(text, str) else Lost(f"no_{self.name}")
