"""A query form of one's own: a function that takes a record and returns a text."""

from __future__ import annotations

from rop_otel.core.ranking import Lost, StudyRow
from rop_otel.reference.named_callable import NamedCallable


class ExternalForm:
    """Calls ``function(record)``, which returns the text to look for, or None where this record has none.

    Args:
        function: What is called; the record is the line of the questions file as a dictionary.
    """

    def __init__(self, function: NamedCallable) -> None:
        self.name = function.name
        self._call = function.call

    def query(self, row: StudyRow) -> str | Lost:
        """Return what the function returns, or how it failed."""
        try:
            text = self._call(dict(row.fields))
        except Exception as error:  # noqa: BLE001 - a function of somebody else's: its row is lost, the others are not
            return Lost(f"form_failed: {type(error).__name__}")
        if text is None:
            return Lost(f"no_{self.name}")
        return text if isinstance(text, str) else Lost(f"form_failed: {type(text).__name__} is no text")
