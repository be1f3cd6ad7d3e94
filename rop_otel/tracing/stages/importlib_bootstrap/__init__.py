"""The code between a decorated function and its caller, which ``stacklevel`` does not count.

``stacklevel`` of ``warnings.warn`` and of logging says how many callers up the cause is. Both skip the frames of the
import system, which they know by a file name with ``importlib`` and ``_bootstrap`` in it: hence the name of this
folder. So a decorated function that warns of its caller still names the caller's line.
"""

from rop_otel.tracing.stages.importlib_bootstrap.awaited import Awaited, IterableAwaited
from rop_otel.tracing.stages.importlib_bootstrap.called import Monitored, monitored_call, monitored_function
from rop_otel.tracing.stages.importlib_bootstrap.generator_steps import AsyncSteps, Following, Steps

__all__ = [
    "AsyncSteps",
    "Awaited",
    "Following",
    "IterableAwaited",
    "Monitored",
    "Steps",
    "monitored_call",
    "monitored_function",
]
