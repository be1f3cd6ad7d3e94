"""What the instrumentation packages share: settings, the handoff of the topmost call, versions, failures.

Public as the facade is: a package that watches a framework imports these two and nothing else of this project.
"""

from rop_otel.core.handoff import kinds
from rop_otel.core.prompt import Passage, passages_in, plain_text
from rop_otel.export import configure_once
from rop_otel.instrumenting.baggage import using_baggage
from rop_otel.instrumenting.deferred import Deferred, Once
from rop_otel.instrumenting.functions import Selector
from rop_otel.instrumenting.guarding import guarded, never_raising_in
from rop_otel.instrumenting.handoffs import (
    before_the_end,
    citations_in,
    has_shown,
    kept_until_the_end,
    moment,
    notes,
    topmost,
)
from rop_otel.instrumenting.notices import failure, retrieved_outside, supported, unlabelled
from rop_otel.instrumenting.patching import Begin, Block, Function, Patches, Take, Wrap, no_matter
from rop_otel.instrumenting.settings import Settings
from rop_otel.instrumenting.stage_recording import Kind, ran, record_shown, stage_of
from rop_otel.safety import Turns, afterwards, create_lock, insist, raise_if_delivered
from rop_otel.tracing.handoffs.handoff_opening import NOT_DUE
from rop_otel.tracing.position.context_position import (
    Variables,
    current_context,
    make_current,
    set_variable,
    using_context,
)
from rop_otel.tracing.stages.importlib_bootstrap import AsyncSteps, Following, Steps
from rop_otel.tracing.stages.prompting import Prompted, look

__all__ = [
    "NOT_DUE",
    "AsyncSteps",
    "Begin",
    "Block",
    "Deferred",
    "Following",
    "Function",
    "Kind",
    "Once",
    "Passage",
    "Patches",
    "Prompted",
    "Selector",
    "Settings",
    "Steps",
    "Take",
    "Turns",
    "Variables",
    "Wrap",
    "afterwards",
    "before_the_end",
    "citations_in",
    "configure_once",
    "create_lock",
    "current_context",
    "failure",
    "guarded",
    "has_shown",
    "insist",
    "kept_until_the_end",
    "kinds",
    "look",
    "make_current",
    "moment",
    "never_raising_in",
    "no_matter",
    "notes",
    "passages_in",
    "plain_text",
    "raise_if_delivered",
    "ran",
    "record_shown",
    "retrieved_outside",
    "set_variable",
    "stage_of",
    "supported",
    "topmost",
    "unlabelled",
    "using_baggage",
    "using_context",
]
