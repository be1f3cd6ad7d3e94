"""A query form of one's own: a function that takes a record and returns a text."""

from __future__ import annotations

from rop_otel.core.ranking import Lost, StudyRow
from rop_otel.reference.named_callable import NamedCallable
from rop_otel.safety.json_lines import is_unicode


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
        except (Exception, SystemExit) as error:  # noqa: BLE001 - somebody else's function: only its row is lost
            return Lost(f"form_failed: {type(error).__name__}")
        if text is None:
            return Lost(f"no_{self.name}")
        if not isinstance(text, str):
            return Lost(f"form_failed: {type(text).__name__} is no text")
        return text if is_unicode(text) else Lost("form_failed: half of a surrogate pair is no text")
