"""What is wrong, or worth a look, in one handoff; one file per family of findings."""

from rop_otel.core.handoff.findings.collect import find

__all__ = ["find"]
