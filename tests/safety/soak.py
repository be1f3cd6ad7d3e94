"""A busy application whose garbage is collected wherever it likes: ``python -m tests.safety.soak --seconds 60``.

It leaves generators, coroutines, handoffs and streams half-way, and sets context variables of its own meanwhile, as
frameworks do for the user, the locale or the session of a request. A crash of the interpreter ends it with a signal. In
the end nothing may be open or current.
"""

from __future__ import annotations

import argparse
import faulthandler
import gc
import logging
import random
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from contextvars import ContextVar

from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExporter, SpanExportResult

import rop_otel as rop
from rop_otel.tracing.running.runtime import current
from tests.safety.left_halfway import RARELY, REQUESTS
from tests.safety.left_streams import instrumented

RARE = 50
"""Of so many requests one is of those that take long."""

VARIABLES = [ContextVar[object](f"application {number}") for number in range(20)]


class Discarding(SpanExporter):
    """Forgets the spans; what hands them over, at the end of each, attaches a context."""

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Forget them."""
        return SpanExportResult.SUCCESS


def request(left: Callable[[], None], chance: random.Random) -> None:
    """Set variables of the request, and leave something half-way."""
    garbage: list[dict[str, object]] = [
        {} for _ in range(chance.randrange(40))
    ]  # so that the collector comes at another place each time
    tokens = [(variable, variable.set({"of": garbage})) for variable in VARIABLES[: chance.randrange(len(VARIABLES))]]
    left()
    for variable, token in reversed(tokens):
        variable.reset(token)


def soak(seconds: float, chance: random.Random) -> int:
    """Serve requests, and return how many."""
    often, rarely = instrumented()
    often, rarely = [*REQUESTS, *often], [*RARELY, *rarely]
    served, until = 0, time.monotonic() + seconds
    while time.monotonic() < until:
        served += 1
        request(chance.choice(rarely if served % RARE == 0 else often), chance)
    return served


def main() -> int:
    """Serve, and say how it went."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--threshold", type=int, default=gc.get_threshold()[0], help="of the collector's youngest")
    parser.add_argument("--seed", type=int, default=None)
    arguments = parser.parse_args()
    seed = arguments.seed if arguments.seed is not None else random.SystemRandom().randrange(10**6)
    sys.stdout.write(f"seed {seed}\n")
    faulthandler.enable()
    warnings.simplefilter("error")
    logging.basicConfig(stream=sys.stdout)
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(Discarding()))
    rop.configure(tracer_provider=provider)
    gc.set_threshold(arguments.threshold)
    served = soak(arguments.seconds, random.Random(seed))
    gc.collect()
    inside, still = rop.current_handoff().id, current().ledger.open_count()
    sys.stdout.write(f"{served} requests; open handoffs: {still}; current handoff: {inside or 'none'}\n")
    return 1 if still or inside else 0


if __name__ == "__main__":
    sys.exit(main())
