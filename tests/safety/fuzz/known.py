"""Differences between a decorated program and a bare one that stay, by name, each with its reason.

The writer of programs writes nothing that shows them, or they are left out where runs are compared.
"""

from __future__ import annotations

from typing import Final

INHERENT: Final = {
    "frames": "tracebacks and stacks hold frames of the monitor; of those of the program none may be lost",
    "current span": "in a stage or handoff OpenTelemetry's current span is the monitor's; compared outside of them",
    "types": "what a monitored function gives to await or to iterate may be of a type of the monitor's",
    "reads": "the monitor reads IDs and scores of documents; it is compared how often",
    "misuse": "what cannot be read is logged once by the logger rop_otel; failures of the monitor's own are compared",
    "interrupts": "KeyboardInterrupt and SystemExit end asyncio's loop in the middle, and are raised only without one",
    "fewer reports": "what Python reports of a bare program need not be reported of the monitored one",
    "given up": (
        "Python up to 3.12 does not let an asynchronous generator know that a coroutine which awaits it is closed by "
        "hand; the monitor does: programs with one run such coroutines to their ends"
    ),
    "random": "OpenTelemetry takes span IDs from the module random; programs do not look at it",
    "generators": (
        "a monitored generator works in the OpenTelemetry context that it began in, and puts its consumer's back at "
        "each yield; a bare one shares it with its consumer, block by block: a program that looks at that context has "
        "no generator that holds a block, and one that puts something there has no generator at all"
    ),
}
