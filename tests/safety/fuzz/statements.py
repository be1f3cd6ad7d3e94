"""Statements of synchronous code."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from tests.safety.fuzz.drawing import LABELS, PLAIN, Callee, Draws, Kind, Scope
from tests.safety.fuzz.tree import Node, block

Write = Callable[[Scope], list[Node]]


class Statements:
    """Writes statements.

    Args:
        draws: The random choices of the program.

    Attributes:
        callees: What there is to call.
        cached: The names of those that remember results.
        partials: The names of those that are partials.
        objects: The names of those that are callable objects.
        stateful: Whether what is written uses something that all share.
        leaky: Whether a bare generator holds a block across a yield, and so leaves it to its consumer.
        threads: Whether threads may run.
        left: How many more statements there may be.
    """

    def __init__(self, draws: Draws) -> None:
        self.draws = draws
        self.callees: list[Callee] = []
        self.cached: list[str] = []
        self.partials: list[str] = []
        self.objects: list[str] = []
        self.stateful = False
        self.leaky = False
        self.threads = True
        self.left = 4 + draws.number(18)
        self._numbered = 0

    def statements(self, scope: Scope, most: int) -> list[Node]:
        """Return some statements."""
        written: list[Node] = []
        for _ in range(1 + self.draws.number(most)):
            written += self._statement(scope)
        return written

    def _statement(self, scope: Scope) -> list[Node]:
        self.left -= 1
        if self.left < 0 or scope.depth > 4:
            return []
        choices = self.simple(scope)
        if scope.depth <= 3:
            choices += self.blocks(scope)
        if scope.awaits:
            choices += self.awaiting(scope) * 2
        return choices[self.draws.number(len(choices))](scope)

    def simple(self, scope: Scope) -> list[Write]:
        """Return what writes simple statements."""
        calls = [self._call] * 4 if self.callees else []
        return [self._log, self._look, self._tell, self._set, self._raise, self._warn, self._state, self._other, *calls]

    def blocks(self, scope: Scope) -> list[Write]:
        """Return what writes blocks."""
        shapes = [self._try, self._with_handoff, self._with_stage, self._with_round, self._reset, self._suppress]
        carried = [self._baggage] * 3 if self.draws.carries else []
        return [*shapes, *carried, self._with_handoff, self._with_stage, self._started]

    def awaiting(self, scope: Scope) -> list[Write]:
        """Return what writes statements that await."""
        raise NotImplementedError

    def name(self, stem: str = "x") -> str:
        """Return a new name."""
        self._numbered += 1
        return f"{stem}{self._numbered}"

    def callee(self, *kinds: Kind, pure: bool = False) -> Callee | None:
        """Return something to call, of one of these kinds, None where there is none."""
        found = [each for each in self.callees if each.kind in kinds and not (pure and each.stateful)]
        if not found:
            return None
        chosen = found[self.draws.number(len(found))]
        self.stateful = self.stateful or chosen.stateful
        return chosen

    def expression(self, scope: Scope) -> str:
        """Return a value, or the result of a call."""
        callee = self.callee("function", *(["coroutine"] if scope.awaits else []))  # type: ignore[arg-type]
        if callee is None or self.draws.chance(0.4):
            return self.draws.value(scope)
        awaited = "await " if callee.kind == "coroutine" else ""
        return awaited + self.draws.call(callee, scope)

    def inner(self, scope: Scope, most: int = 2, *, inside: bool = False) -> list[Node]:
        """Return the statements of a block."""
        return self.statements(replace(scope, depth=scope.depth + 1, outside=scope.outside and not inside), most)

    # Simple ones.

    def _log(self, scope: Scope) -> list[Node]:
        return [Node(f"log('{self.name('at ')}')")]

    def _look(self, scope: Scope) -> list[Node]:
        return [Node("outside()" if scope.outside and not self.leaky else "look()")]

    def _tell(self, scope: Scope) -> list[Node]:
        return [Node(f"tell({self.expression(scope)})")]

    def _set(self, scope: Scope) -> list[Node]:
        return [Node(f"V{1 + self.draws.number(2)}.set({self.draws.number(90)})")]

    def _raise(self, scope: Scope) -> list[Node]:
        if scope.depth < 1 and self.draws.chance(0.6):
            return self._log(scope)
        return [
            Node(f"raise {self.draws.error()}{self.draws.one(['', '', f' from {self.draws.error()}', ' from None'])}")
        ]

    def _warn(self, scope: Scope) -> list[Node]:
        level = 1 + self.draws.number(2)
        return [Node(f"warnings.warn('{self.name('old ')}', UserWarning, stacklevel={level})")]

    def _state(self, scope: Scope) -> list[Node]:
        self.stateful = True
        return [Node("state['n'] = state.get('n', 0) + 1"), Node("tell(state['n'])")]

    def _other(self, scope: Scope) -> list[Node]:
        """Return what tells the running stage something, or looks at a function or its attributes."""
        draws = self.draws
        choices = [
            f"current_handoff().running_stage.returned({draws.value(scope)})",
            f"current_handoff().running_stage.returned({draws.value(scope)}, labels={draws.one(LABELS)}, tokens=7)",
            f"current_handoff().select({draws.value(scope)})",
            "current_handoff().running_stage.implementation('words', fallback=True)",
        ]
        choices = choices if not draws.lazy else choices[-1:]
        choices += [f"face({each.name})" for each in self.callees if each.described]
        choices += [f"tell({each}.cache_info())" for each in self.cached]
        choices += [f"tell(({each}.func.__name__, {each}.args))" for each in self.partials]
        choices += [f"tell(({each}.name, {each}.invoke('q'), {each}.calls))" for each in self.objects]
        self.stateful = self.stateful or bool(self.cached or self.objects)
        return [Node(draws.one(choices))]

    def _call(self, scope: Scope) -> list[Node]:
        draws = self.draws
        callee = self.callee("function", "generator", "manager", "coroutine", "asyncgen")
        if callee is None:
            return self._tell(scope)
        call = draws.call(callee, scope)
        if callee.kind == "function":
            return self._called(callee, call, scope)
        if callee.kind == "generator":
            return self.generated(callee, call, scope)
        if callee.kind == "manager":
            return [block(f"with {call} as {(name := self.name())}:", [Node(f"tell({name})"), *self.inner(scope)])]
        # Python up to 3.12 does not pass it on to an asynchronous generator when what awaits it is given up.
        whole = any(each.kind in ("asyncgen", "amanager") for each in self.callees)
        steps = 99 if whole else draws.number(4)
        if draws.chance(0.1):
            return [Node(call)]
        if callee.kind == "coroutine":
            return [Node(f"tell(drive({call}, {steps}))")]
        name = self.name("g")  # closed, since without a loop Python ends nothing that its ``finally`` awaits
        steps_of = [f"tell(drive({name}.{step}(), {steps}))" for step in ("__anext__", "aclose")]
        return [Node(each) for each in (f"{name} = {call}", *steps_of)]

    def _called(self, callee: Callee, call: str, scope: Scope) -> list[Node]:
        draws, name = self.draws, self.name()
        arguments = call[len(callee.name) + 1 : -1]
        given = f"{callee.name}{', ' if arguments else ''}{arguments}"
        choices = [
            [f"tell({call})"],
            [f"tell({call})"],
            [f"{name} = {call}", f"tell({name})", f"tell({name} is {call})"],
            [f"copy_context().run({given})"],
            [f"for {name} in {call}:", f"tell({name})"],
            [f"{name} = {call}", f"{name}_left = [ref(each) for each in {name} if isinstance(each, Fleeting)]"],
            [f"keep.append({call})"],
        ]
        if self.threads:
            choices += [
                [f"tell(submit({given}).result())"],
                [f"tell(submit(carry_context({callee.name}){given[len(callee.name) :]}).result())"],
                [f"thread({callee.name}{given[len(callee.name) :]})"]
                if "=" not in arguments and "*" not in arguments
                else [call],
            ]
            if not callee.stateful:
                started = [
                    f"{name} = [submit({given}), submit(carry_context({callee.name}){given[len(callee.name) :]})]"
                ]
                choices += [[*started, f"tell([each.result() for each in {name}])"]] * 2
        lines = choices[draws.number(len(choices))]
        if lines[0].startswith("for "):
            return [block(lines[0], [Node(lines[1])])]
        if "_left" in lines[-1]:
            self.stateful = True  # it takes tracebacks away
            return [*map(Node, lines), Node(f"del {name}"), Node(f"gone({name}_left)")]
        return [*map(Node, lines)]

    def generated(self, callee: Callee, call: str, scope: Scope) -> list[Node]:
        """Return what reads a generator: to the end, half, by hand."""
        draws, name = self.draws, self.name("g")
        if draws.chance(0.3):
            return [Node(f"tell(list({call}))")]
        if draws.chance(0.25):
            return [block(f"for {name} in {call}:", [Node(f"tell({name})"), *([Node("break")] * draws.number(2))])]
        choices = [
            f"tell(next({name}))",
            f"tell({name}.send({draws.one(PLAIN)}))",
            f"tell({name}.throw({draws.error()}))",
            f"{name}.close()",
            "look()",
            f"tell(copy_context().run(next, {name}))",
        ]
        if self.threads:
            choices.append(f"tell(submit(next, {name}).result())")
        steps = [f"tell(next({name}, 'over'))", *(draws.one(choices) for _ in range(draws.number(4)))]
        ends = [
            [],
            [f"keep.append({name})"],
            [f"del {name}", "look()"],
            [f"lose({name})", f"del {name}", "collect()", "look()"],
        ]
        last = [f"{name}.close()"]
        return [Node(each) for each in [f"{name} = {call}", *steps, *[*ends, last][draws.number(5)]]]

    def yielding(self, scope: Scope) -> list[Node]:
        """Return what yields, inside of something or plainly."""
        draws, name = self.draws, self.name("y")
        given = [Node(f"{name} = yield {draws.value(scope)}"), *([Node(f"tell({name})")] if draws.chance(0.5) else [])]
        shape = draws.number(8)
        if shape == 0:
            callee = self.callee("generator")
            if callee is not None and not scope.awaits:
                return [Node(f"tell((yield from {draws.call(callee, scope)}))")]
        if shape == 1:
            return [block("try:", given), block("finally:", self.inner(scope, 1))]
        if shape == 2:
            ends = [Node("raise")] if draws.chance(0.5) else [Node(f"yield {draws.one(PLAIN)}")]
            return [block("try:", given), block("except BaseException as error:", [Node("saw(error)"), *ends])]
        if shape == 3:
            return [block("try:", given), block("except GeneratorExit:", [Node("log('closed')"), Node("raise")])]
        if shape == 4 and draws.chance(0.4):
            self.leaky = True
            return [block(self._handoff(scope), given)]
        if shape == 5:
            return [block(f"for {name}_each in range(2):", given)]
        return given

    # Blocks.

    def _try(self, scope: Scope) -> list[Node]:
        draws = self.draws
        kind = draws.one(["BaseException", "Exception", "ValueError", "(KeyError, Stop)"])
        ends: Sequence[str] = [
            "raise",
            "pass",
            f"raise {draws.error()} from error",
            f"raise {draws.error()}",
            f"raise {draws.error()} from None",
            "error.add_note('note')",
            "keep.append(error)",
        ]
        handler = [Node("saw(error)"), *([Node("look()")] * draws.number(2)), Node(draws.one(ends))]
        tried = [block("try:", self.inner(scope)), block(f"except {kind} as error:", handler)]
        if draws.chance(0.2):
            tried.append(block("else:", self.inner(scope, 1)))
        if draws.chance(0.3):
            tried.append(block("finally:", self.inner(scope, 1)))
        return tried

    def _handoff(self, scope: Scope) -> str:
        draws = self.draws
        given = [
            "selected='d1'",
            "judged=['d1', 'd2']",
            "cutoff=2",
            "cutoff=0",
            "mode='soft'",
            "rule='all'",
            "expected=['vector']",
            "scope='s'",
            "record_id='r1'",
        ]
        if not draws.lazy:
            given.append(f"selected={draws.value(scope)}")
        arguments = "".join(f", {each}" for each in dict.fromkeys([draws.one(given)] * draws.number(2)))
        return f"{'async ' if scope.awaits and draws.chance(0.3) else ''}with handoff('qa'{arguments}) as handoff_:"

    def _with_handoff(self, scope: Scope) -> list[Node]:
        draws = self.draws
        below = self.inner(scope, 3, inside=True)
        if draws.chance(0.4) and not draws.lazy:
            sources = f"sources={draws.value(scope)}"
            below.append(
                Node(f"current_handoff().answered({draws.one(['[S1]'.__repr__(), draws.value(scope)])}, {sources})")
            )
        return [block(self._handoff(scope), below)]

    def _with_stage(self, scope: Scope) -> list[Node]:
        draws = self.draws
        given = "" if draws.lazy or draws.chance(0.6) else f", input={draws.value(scope)}"
        below = self.inner(scope, 2, inside=True)
        if draws.chance(0.7) and not draws.lazy:
            below.append(Node(f"stage_.returned({draws.value(scope)})"))
        return [block(f"with using_stage({draws.one(['vector', 'packing'])!r}{given}) as stage_:", below)]

    def _with_round(self, scope: Scope) -> list[Node]:
        return [block(f"with using_round({self.draws.number(3)}):", self.inner(scope, 2, inside=True))]

    def _started(self, scope: Scope) -> list[Node]:
        name = self.name("h")
        nodes = [Node(f"{name} = start_handoff('streamed')"), block(f"with {name}:", self.inner(scope, 2, inside=True))]
        ends = [[], [Node(f"{name}.close()")], [Node(f"keep.append({name})")]]
        return [*nodes, *ends[self.draws.number(3)]]

    def _reset(self, scope: Scope) -> list[Node]:
        name = self.name("token")
        return [
            Node(f"{name} = V1.set({self.draws.number(90)})"),
            block("try:", self.inner(scope)),
            block("finally:", [Node(f"V1.reset({name})")]),
        ]

    def _baggage(self, scope: Scope) -> list[Node]:
        return [block(f"with baggage('u{self.draws.number(9)}'):", self.inner(scope, inside=True))]

    def _suppress(self, scope: Scope) -> list[Node]:
        return [
            block(f"with suppress({self.draws.one(['Exception', 'ValueError', 'BaseException'])}):", self.inner(scope))
        ]
