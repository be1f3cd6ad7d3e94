"""Writes random programs: functions of every kind, decorated with random options, and a ``main`` that uses them."""

from __future__ import annotations

from dataclasses import replace

from tests.safety.fuzz.drawing import PLAIN, SIGNATURES, Callee, Draws, Kind, Scope
from tests.safety.fuzz.loops import LoopStatements
from tests.safety.fuzz.statements import Statements
from tests.safety.fuzz.tree import Node, Program, block

_KINDS: tuple[Kind, ...] = ("function", "function", "coroutine", "generator", "asyncgen", "manager", "amanager")
_HEADS = {"function": "def", "generator": "def", "manager": "def"}
_PLAIN_STYLES = ("plain", "plain", "plain", "bare", "twice", "method", "static", "class", "outer static", "outer class")
_STYLES = {
    "function": (*_PLAIN_STYLES, "passing", "partial", "object", "cached", "outer cached", "cached method", "lambda"),
    "coroutine": (*_PLAIN_STYLES, "passing", "partial", "object", "types.coroutine"),
    "generator": (*_PLAIN_STYLES, "passing", "partial", "object"),
    "asyncgen": (*_PLAIN_STYLES, "passing", "partial"),
}


def write(seed: str) -> Program:
    """Return the program of a seed."""
    draws = Draws(seed)
    writer = _Writer(draws)
    nodes: list[Node] = []
    for _ in range(1 + draws.number(3)):
        nodes += writer.definition()
    writer.left += 4
    nodes.append(writer.main())
    return Program(seed, tuple(nodes), writer.leaky)


class _Writer(LoopStatements, Statements):
    """Writes one program."""

    def main(self) -> Node:
        """Return what is run: statements whose exceptions are seen, one after the other."""
        loops = self.draws.loops
        self.threads = not loops or self.draws.chance(0.2)
        scope = Scope(awaits=loops, loops=loops, outside=True)
        below: list[Node] = []
        for _ in range(2 + self.draws.number(5)):
            written = self.statements(replace(scope, depth=1), 1)
            if not written:
                break
            if self.draws.chance(0.9):
                written = [block("try:", written), block("except BaseException as error:", [Node("saw(error)")])]
            below += written
            if self.draws.chance(0.3):
                below.append(Node("outside()" if not self.leaky else "look()"))
        return block("async def main():" if loops else "def main():", below)

    def definition(self) -> list[Node]:
        """Return a function of any kind, and make it known to what is written later."""
        kinds = _KINDS[:3] if self.draws.carries else _KINDS
        kind: Kind = kinds[self.draws.number(len(kinds))]
        name = f"f{len(self.callees) + 1}"
        parameters = self.draws.one(list(SIGNATURES))
        if kind in ("manager", "amanager"):
            nodes, callee = self._manager(kind, name, parameters)
        else:
            style = self.draws.one(_STYLES[kind])
            nodes, callee = self._styled(kind, style, name, parameters)
        if self.stateful:
            callee = replace(callee, stateful=True)
        self.callees.append(callee)
        return nodes

    def _manager(self, kind: Kind, name: str, parameters: str) -> tuple[list[Node], Callee]:
        decorators = ["contextmanager" if kind == "manager" else "asynccontextmanager"]
        decorators.insert(self.draws.number(2), f"stage({self.draws.options(parameters)})")
        self.stateful = False
        awaits = kind == "amanager"
        scope = Scope(awaits=awaits, names=("a",) if parameters[:1] == "a" else ())
        before, after = self.statements(scope, 2), self.statements(scope, 2)
        given = Node(f"yield {self.draws.value(scope)}")
        middle = [given]
        if self.draws.chance(0.6):
            seen = [Node("saw(error)"), *([Node("raise")] if self.draws.chance(0.7) else [])]
            middle = [block("try:", middle), block("except BaseException as error:", seen), block("finally:", after)]
        head = "\n".join([f"@{each}" for each in decorators])
        text = f"{head}\n{'async ' if awaits else ''}def {name}({parameters}):"
        return [block(text, [*before, *middle])], Callee(name, kind, parameters, stateful=self.stateful)

    def _styled(self, kind: Kind, style: str, name: str, parameters: str) -> tuple[list[Node], Callee]:
        options = self.draws.options(parameters)
        callee = Callee(name, kind, parameters)
        self.stateful = False
        if style == "lambda":
            expression = self.expression(Scope(names=("a",) if "a" in parameters else ()))
            return [Node(f"{name} = stage({options})(lambda {parameters}: {expression})")], replace(
                callee, stateful=self.stateful
            )
        body = self.body(kind, parameters, generated=style == "types.coroutine")
        if style in _HEAD:
            head, described, hashable = _HEAD[style]
            text = head.format(options=options, more=self.draws.options(parameters))
            callee = replace(callee, described=described, hashable=hashable, task=style != "types.coroutine")
            if hashable:
                self.stateful = True
                self.cached.append(name)
            return [block(f"{text}{self._def(kind, name, parameters, style)}", body)], callee
        return self._owned(style, callee, options, body)

    def _owned(self, style: str, callee: Callee, options: str, body: list[Node]) -> tuple[list[Node], Callee]:
        """Return a function that belongs to a class, or is made of another."""
        name, kind, parameters = callee.name, callee.kind, callee.parameters
        if style == "partial":
            first = ", ".join(each for each in ("first", parameters) if each)
            given = self.draws.one(PLAIN)
            made = Node(f"{name} = stage({options})(partial({name}_of, {given}))")
            self.partials.append(name)
            return [block(self._def(kind, f"{name}_of", first, style), body), made], replace(callee, described=False)
        if style == "object":
            call = block(self._def(kind, "__call__", f"self, {parameters}".rstrip(", "), style), body)
            self.objects.append(name)
            made = Node(f"{name} = stage({options})(Class{name}())")
            return [block(f"class Class{name}(Tool):", [call]), made], replace(callee, described=False)
        head, first, decorators = {
            "method": ("Class{}().", "self", "@stage({})\n"),
            "static": ("Class{}.", "", "@staticmethod\n@stage({})\n"),
            "class": ("Class{}.", "cls", "@classmethod\n@stage({})\n"),
            "outer static": ("Class{}().", "", "@stage({})\n@staticmethod\n"),
            "outer class": ("Class{}().", "cls", "@stage({})\n@classmethod\n"),
            "cached method": ("Class{}().", "self", "@lru_cache\n@stage({})\n"),
        }[style]
        given = ", ".join(each for each in (first, parameters) if each)
        text = decorators.format(options) + self._def(kind, name, given, style)
        if style == "cached method":
            callee = replace(callee, hashable=True, described=False)
        return [block(f"class Class{name}:", [block(text, body)])], replace(callee, name=head.format(name) + name)

    def body(self, kind: Kind, parameters: str, *, generated: bool = False) -> list[Node]:
        """Return the body of a function."""
        draws = self.draws
        scope = Scope(
            awaits=kind in ("coroutine", "asyncgen") and not generated,
            yields=kind in ("generator", "asyncgen"),
            names=("a",) if parameters.lstrip("*")[:1] == "a" else (),
        )
        body = self.statements(scope, 1 + draws.number(3))
        if generated:
            body.append(Node("yield"))
        if scope.yields:
            for _ in range(1 + draws.number(2)):
                body += self.yielding(scope)
        if kind != "asyncgen" and draws.chance(0.8):
            body.append(Node(f"return {self.expression(scope) if not scope.yields else draws.value(scope)}"))
        return body

    @staticmethod
    def _def(kind: Kind, name: str, parameters: str, style: str) -> str:
        head = _HEADS.get(kind, "async def") if style != "types.coroutine" else "def"
        return f"{head} {name}({parameters}):"


_HEAD = {
    "plain": ("@stage({options})\n", True, False),
    "bare": ("", True, False),
    "twice": ("@stage({options})\n@stage({more})\n", True, False),
    "passing": ("@stage({options})\n@passing\n", True, False),
    "types.coroutine": ("@stage({options})\n@types.coroutine\n", True, False),
    "cached": ("@stage({options})\n@lru_cache\n", True, True),
    "outer cached": ("@lru_cache\n@stage({options})\n", True, True),
}
