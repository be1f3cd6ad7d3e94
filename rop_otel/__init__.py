"""Watch a retrieval pipeline: did the selected object reach the reader, and if not, where was it lost?"""

from __future__ import annotations

from rop_otel.core.handoff import Assessment, DropCause, Finding, Verdict, assess
from rop_otel.core.profile.resolver import Resolver
from rop_otel.errors import RopError
from rop_otel.export import RopSpanProcessor, configure, shutdown
from rop_otel.runs import run
from rop_otel.tracing.decorating import stage
from rop_otel.tracing.handoff import Handoff
from rop_otel.tracing.here import carry_context
from rop_otel.tracing.opening import current_handoff, handoff, start_handoff
from rop_otel.tracing.stage import Stage
from rop_otel.tracing.using import using_round, using_stage

__all__ = [
    "Assessment",
    "DropCause",
    "Finding",
    "Handoff",
    "Resolver",
    "RopError",
    "RopSpanProcessor",
    "Stage",
    "Verdict",
    "assess",
    "carry_context",
    "configure",
    "current_handoff",
    "handoff",
    "run",
    "shutdown",
    "stage",
    "start_handoff",
    "using_round",
    "using_stage",
]
