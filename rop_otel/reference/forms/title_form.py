"""The query form ``title``: the title of the selected page."""

from __future__ import annotations

from rop_otel.core.ranking import Lost, StudyRow, missing_selection


class TitleForm:
    """Looks for the title that the corpus has under the selected key."""

    name = "title"

    def query(self, row: StudyRow) -> str | Lost:
        """Return the selected page's title."""
        return missing_selection(row) or row.selected_title or ""
