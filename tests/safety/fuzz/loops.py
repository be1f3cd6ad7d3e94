"""Statements of asynchronous code: tasks, timeouts, cancellation, asynchronous generators.

How tasks take turns is the same in each run of a program: nothing waits for a clock.
"""

from __future__ import annotations

from dataclasses import replace

from tests.safety.fuzz.drawing import PLAIN, Callee, Scope
from tests.safety.fuzz.statements import Statements, Write
from tests.safety.fuzz.tree import Node, block


class LoopStatements(Statements):
    """Writes statements that await."""

    def awaiting(self, scope: Scope) -> list[Write]:
        """Return what writes statements that await."""
        choices: list[Write] = [self._pause]
        if any(each.kind == "coroutine" for each in self.callees):
            choices += [self._awaited] * 2
            if scope.loops and not self.threads:
                choices += [self._gather, self._task, self._group, self._timeout, self._left_task]
            elif scope.loops:
                choices += [self._timeout]
        if any(each.kind == "asyncgen" for each in self.callees):
            choices += [self._async_generator] * 3
        if any(each.kind == "amanager" for each in self.callees):
            choices += [self._async_manager]
        if self.threads and scope.loops and any(each.kind == "function" for each in self.callees):
            choices += [self._to_thread]
        return choices

    def _coroutine(self, scope: Scope, *, task: bool = True) -> str:
        callee = self.callee("coroutine")
        return "pause()" if callee is None or (task and not callee.task) else self.draws.call(callee, scope)

    def _pause(self, scope: Scope) -> list[Node]:
        return [Node("await pause()")] * (1 + self.draws.number(2))

    def _awaited(self, scope: Scope) -> list[Node]:
        return [Node(f"tell(await {self._coroutine(scope, task=False)})")]

    def _gather(self, scope: Scope) -> list[Node]:
        calls = ", ".join(self._coroutine(scope) for _ in range(1 + self.draws.number(3)))
        return [Node(f"tell(await gather({calls}, return_exceptions={self.draws.chance(0.6)}))")]

    def _task(self, scope: Scope) -> list[Node]:
        name = self.name("task")
        pauses = [Node("await pause()")] * self.draws.number(3)
        ends = [[Node(f"{name}.cancel('why')")], [Node("look()")], [Node(f"tell(await shield({name}))")]]
        waited = [Node(f"tell(await {name})")]
        seen = [block("try:", waited), block("except BaseException as error:", [Node("saw(error)")])]
        return [Node(f"{name} = create_task({self._coroutine(scope)})"), *pauses, *ends[self.draws.number(3)], *seen]

    def _left_task(self, scope: Scope) -> list[Node]:
        return [Node(f"keep.append(create_task({self._coroutine(scope)}))")]

    def _group(self, scope: Scope) -> list[Node]:
        started = [Node(f"group.create_task({self._coroutine(scope)})") for _ in range(1 + self.draws.number(2))]
        return [block("async with TaskGroup() as group:", [*started, *self.inner(scope, 1)])]

    def _timeout(self, scope: Scope) -> list[Node]:
        if self.draws.chance(0.4):
            return [
                Node(f"tell(await asyncio.wait_for({self._coroutine(scope)}, {self.draws.one(['0', '-1', 'None'])}))")
            ]
        timed = replace(scope, loops=False)  # whether a thread ends in time is chance
        below = [Node(f"tell(await {self._coroutine(scope, task=False)})"), *self.inner(timed, 1)]
        return [block(f"async with timeout({self.draws.one(['0', 'None'])}):", below)]

    def _to_thread(self, scope: Scope) -> list[Node]:
        callee = self.callee("function")
        if callee is None or "=" in callee.parameters:
            return self._pause(scope)
        arguments = self.draws.arguments(replace(callee, wrong=False), scope)
        if "=" in arguments or "*" in arguments:
            return self._pause(scope)
        return [Node(f"tell(await to_thread({callee.name}{', ' if arguments else ''}{arguments}))")]

    def _async_manager(self, scope: Scope) -> list[Node]:
        callee = self.callee("amanager")
        if callee is None:
            return self._pause(scope)
        name = self.name()
        return [
            block(
                f"async with {self.draws.call(callee, scope)} as {name}:", [Node(f"tell({name})"), *self.inner(scope)]
            )
        ]

    def _async_generator(self, scope: Scope) -> list[Node]:
        callee = self.callee("asyncgen")
        if callee is None:
            return self._pause(scope)
        return self._read(callee, self.draws.call(callee, scope), scope)

    def _read(self, callee: Callee, call: str, scope: Scope) -> list[Node]:
        draws, name = self.draws, self.name("g")
        if draws.chance(0.3):
            return [Node(f"tell([each async for each in {call}])")]
        below = [Node(f"tell({name})"), *([Node("break")] if draws.chance(0.5) else [])]
        if draws.chance(0.2):
            return [
                block(f"async with aclosing({call}) as {name}_of:", [block(f"async for {name} in {name}_of:", below)])
            ]
        if draws.chance(0.2):
            return [block(f"async for {name} in {call}:", below)]
        choices = [
            f"tell(await {name}.__anext__())",
            f"tell(await {name}.asend({draws.one(PLAIN)}))",
            f"tell(await {name}.athrow({draws.error()}))",
            f"await {name}.aclose()",
            "look()",
            "await pause()",
        ]
        steps = [f"tell(await anext({name}, 'over'))", *(draws.one(choices) for _ in range(draws.number(4)))]
        ends = [[f"keep.append({name})"], [f"del {name}", "look()", "await pause()"]]
        ends += [[f"lose({name})", f"del {name}", "collect()", "await pause()"], []]
        closed = [f"await {name}.aclose()"] if draws.chance(0.3) else []
        return [Node(each) for each in (f"{name} = {call}", *steps, *closed, *ends[draws.number(4)])]
