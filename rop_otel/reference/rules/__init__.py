"""Handoff rules: ways of turning a query or a selection into a list of pages, one in each file."""

from __future__ import annotations

from rop_otel.reference.rules.every_rule import RULES, Rules

__all__ = ["RULES", "Rules"]
