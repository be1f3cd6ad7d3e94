"""Watch a retrieval pipeline: did the selected object reach the reader, and if not, where was it lost?"""

from __future__ import annotations

from rop_otel.core.handoff import Assessment, DropCause, Finding, Verdict, assess
from rop_otel.core.profile.resolver import Resolver
from rop_otel.errors import RopError
from rop_otel.export import RopSpanProcessor, configure, shutdown
from rop_otel.runs import run
from rop_otel.tracing.handoffs.handoff_opening import current_handoff, handoff, start_handoff
from rop_otel.tracing.handoffs.handoff_protocol import Handoff
from rop_otel.tracing.position.context_position import carry_context
from rop_otel.tracing.stages.decorating import stage
from rop_otel.tracing.stages.stage_protocol import Stage
from rop_otel.tracing.stages.using import using_round, using_stage

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
