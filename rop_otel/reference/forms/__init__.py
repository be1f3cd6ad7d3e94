"""Query forms: ways of turning a recorded selection into a query, one in each file."""

from __future__ import annotations

from rop_otel.reference.forms.every_form import FORMS, find_form

__all__ = ["FORMS", "find_form"]
