"""What the writer of programs draws from: values, arguments, signatures, options of the decorators."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

Kind = Literal["function", "coroutine", "generator", "asyncgen", "manager", "amanager"]

SIGNATURES: Final[dict[str, tuple[Sequence[str], Sequence[str]]]] = {
    "": (["", "**{}"], ["{}", "z={}"]),
    "a": (["{}", "a={}"], ["", "{}, {}", "z={}", "{}, a={}"]),
    "a, b=2": (["{}", "{}, {}", "b={}, a={}", "*({}, 3)"], ["b={}", "{}, {}, {}"]),
    "a, /, b=()": (["{}", "{}, b={}"], ["a={}"]),
    "a=None, *, k=2": (["", "{}", "{}, k=3", "k={}"], ["{}, {}"]),
    "*a, **more": (["", "{}, {}", "x={}", "k={}"], []),
    "a, *rest, k=1, **more": (["{}", "{}, {}, k={}", "a={}, z={}"], ["k=1"]),
}
"""Parameters, and what a right and a wrong call gives them."""

VALUES: Final = (
    "(each for each in 'ab')",
    *"""ids(2) ids(3) ids(0) docs(2) docs(3) dicts(2) pairs(2) array(3) search(2) None True 0 7 'text' 0.5 b'x' ()
({'documents':docs(2)}) (docs(2),7) {'d1'} {'id':'d1'} iterator(2) once(2) default() odd(RuntimeError)
odd(AttributeError) odd(KeyError) faceless() touchy(2) later() fleeting() fleeting() fleeting() tool()
[ids(1),ids(2)] ['a',None,3] [[]]
object() (lambda:1) 10**400 new(ValueError) state [float('nan')]""".split(),
)
BOMBS: Final = ("odd(Stop)", "odd(GeneratorExit)", "odd(KeyboardInterrupt)")
LABELS: Final = ("['S1', 'S2']", "['S1', 'S1', 'S1']", "3", "faceless()", "odd(KeyError)", "[]")
"""An iterator is none of them: one that is given as labels is read."""
PLAIN: Final = ("1", "'q'", "None", "(1, 2)")
"""What can be hashed, and is the same in each run."""

OPTIONS: Final = (
    "id='id'",
    "id=lambda each: each.id",
    "id={0: 'd0', 1: 'd1'}",
    "id='metadata.page'",
    "score='score'",
    "score=lambda each: each[1]",
    "scope='text'",
    "data_source='notes'",
    "name='second'",
    "source=True",
    "fed_by=['vector']",
    "query_form='title'",
    "implementation='words'",
)
STAGES: Final = ("vector", "lexical", "fusion", "rerank", "mmr", "packing", "rescue", "reader", "mine")
RAISED: Final = "ValueError KeyError AppError OddError StopIteration TimeoutError RuntimeError TypeError Stop".split()
RARELY_RAISED: Final = ("StopAsyncIteration", "GeneratorExit", "CancelledError", "KeyboardInterrupt", "SystemExit")
"""The last two end asyncio's loop in the middle, and are raised only where there is none."""


@dataclass(frozen=True, slots=True)
class Callee:
    """Something that a program can call.

    Args:
        name: An expression that gives it.
        kind: What a call gives.
        parameters: Its signature.
        hashable: Whether it takes only arguments that can be hashed.
        stateful: Whether two calls at one time would disturb each other.
        described: Whether it can be looked at as a function.
        wrong: Whether it may be called wrongly.
        task: Whether a task may run it, which Python from 3.12 on allows to coroutines alone.
    """

    name: str
    kind: Kind
    parameters: str
    hashable: bool = False
    stateful: bool = False
    described: bool = True
    wrong: bool = True
    task: bool = True


@dataclass(frozen=True, slots=True)
class Scope:
    """Where in a program a statement stands.

    Args:
        awaits: Whether it may await.
        yields: Whether it may yield.
        outside: Whether no handoff and no stage is around.
        depth: Blocks around it.
        names: Local names.
        loops: Whether asyncio's loop runs it for certain.
    """

    awaits: bool = False
    yields: bool = False
    outside: bool = False
    depth: int = 0
    names: tuple[str, ...] = ()
    loops: bool = False


@dataclass
class Draws:
    """Random choices of one program.

    Args:
        seed: What they are made from.
    """

    seed: str
    random: random.Random = field(init=False)
    lazy: bool = field(init=False)
    carries: bool = field(init=False)
    loops: bool = field(init=False)

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)
        self.lazy = self.chance(0.06)  # its documents count how often they are read
        self.loops = self.chance(0.45)  # its main is a coroutine function
        self.carries = self.chance(0.2)  # it puts something into OpenTelemetry's context, and has no generators

    def chance(self, probability: float) -> bool:
        """Return True that often."""
        return self.random.random() < probability

    def one(self, choices: Sequence[str]) -> str:
        """Return one of these."""
        return choices[int(self.random.random() * len(choices))]

    def number(self, below: int) -> int:
        """Return a number from 0."""
        return int(self.random.random() * below)

    def value(self, scope: Scope) -> str:
        """Return an expression of any kind."""
        if self.lazy:
            return "lazy(3)" if not scope.yields and self.chance(0.6) else self.one(PLAIN)
        if scope.names and self.chance(0.25):
            return self.one(scope.names)
        if self.chance(0.03):
            return self.one(BOMBS[:1] if self.loops else BOMBS)
        return self.one(VALUES)

    def error(self) -> str:
        """Return an expression that gives a new exception."""
        rare = RARELY_RAISED[:3] if self.loops else RARELY_RAISED
        kind = self.one(rare) if self.chance(0.1) else self.one(RAISED)
        text = self.one(("", ", 'why'", ", 'why', 3"))
        return f"new({kind}{text})"

    def call(self, callee: Callee, scope: Scope) -> str:
        """Return a call, mostly a right one."""
        return f"{callee.name}({self.arguments(callee, scope)})"

    def arguments(self, callee: Callee, scope: Scope) -> str:
        """Return the arguments of a call, mostly right ones."""
        right, wrong = SIGNATURES[callee.parameters]
        shape = self.one(wrong) if wrong and callee.wrong and self.chance(0.06) else self.one(right)
        if "**{}" in shape:
            return ""
        while "{}" in shape:
            value = self.one(PLAIN) if callee.hashable and self.chance(0.9) else self.value(scope)
            shape = shape.replace("{}", value, 1)
        return shape

    def options(self, parameters: str) -> str:
        """Return arguments for the decorator of a function with these parameters."""
        options = [repr(self.one(STAGES))]
        taken = {"kind"}
        for _ in range(self.number(3)):
            option = self.one(OPTIONS)
            name = option.split("=")[0]
            if name not in taken and not (self.lazy and name in ("id", "score", "scope")):
                taken.add(name)
                options.append(option)
        if not self.lazy and self.chance(0.3):
            by_name = ["input_arg='a'"] if parameters.startswith(("a", "*a")) else []
            options.append(
                self.one(["input_arg=lambda *given, **named: given", "input_arg=lambda *given: 1 / 0", *by_name])
            )
        if "k=" in parameters and self.chance(0.5):
            options.append("top_k_arg='k'")
        return ", ".join(options)
