"""The query form ``cell``: the label of the table's link to the selected page."""

from __future__ import annotations

from typing import Any

from rop_otel.core.ranking import Lost, StudyRow


class CellForm:
    """Looks for the words under which the table shows the selected page.

    They are the record's ``selected_cell``; else the ``cell`` of that of its ``answer_nodes`` which links to the page.
    """

    name = "cell"

    def query(self, row: StudyRow) -> str | Lost:
        """Return the label."""
        if row.selected_id is None:
            return Lost("no_selection")
        label = row.fields.get("selected_cell") or _linked_label(row.fields.get("answer_nodes"), row.selected_id)
        return label if isinstance(label, str) else Lost("no_cell")


def _linked_label(nodes: Any, selected_id: str) -> Any:
    linked = (node for node in nodes if isinstance(node, dict)) if isinstance(nodes, list) else ()
    return next((node.get("cell") for node in linked if node.get("link") == selected_id), None)
