"""Live runs: a declared population accounted for while its handoffs happen."""

from rop_otel.runs.starting import run

__all__ = ["run"]
