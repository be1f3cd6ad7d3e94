"""Methods of Haystack's classes put in place of the original ones, and put back.

What Haystack documents is replaced: how a pipeline or an agent is run and a tool called, and the ``run`` and
``run_async`` that make a class a component; beside it only how a component is made, so that its class is known. How a
pipeline calls its components is private, and has been written anew between versions.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from weakref import WeakKeyDictionary

from rop_otel.instrumenting import AsyncSteps, Block, Function, Patches, Settings, Wrap, guarded
from rop_otel_haystack.agents import WatchedAgent, WatchedTool, watched_tool
from rop_otel_haystack.components import WatchedStep, watched_step
from rop_otel_haystack.kinds import is_agent
from rop_otel_haystack.plan import Plan, plan_of, step_by_hand
from rop_otel_haystack.runs import Place, WatchedRun, running, runs_already

_Given = tuple[Any, ...]


class HaystackPatches(Patches):
    """The methods that one instrumentor replaced.

    Args:
        settings: The user's.
    """

    def __init__(self, settings: Settings) -> None:
        super().__init__("Haystack")
        self._settings = settings
        self._watched: WeakKeyDictionary[Any, Plan] = WeakKeyDictionary()
        self._steps = self._both(self._step, "run", "run_async")

    def pipeline(self, cls: type) -> None:
        """Watch the runs of a class of pipelines."""
        runs = self._both(self._run, "run", "run_async")
        self._replace(cls, {**runs, "run_async_generator": self._generator})

    def agent(self, cls: type) -> None:
        """Watch the runs of a class of agents."""
        self._replace(cls, self._both(self._agent, "run", "run_async"))

    def tool(self, cls: type) -> None:
        """Watch the calls of a class of tools."""
        self._replace(cls, self._both(self._tool, "invoke", "invoke_async"))

    def making(self, cls: type) -> None:
        """Watch how components are made, whose own methods are watched then.

        Of those that were made before, other components and functions may run any: their classes are watched, too.
        """
        self.replace(cls, "__call__", self._making)
        known = getattr(getattr(sys.modules[cls.__module__], "component", None), "registry", {})
        self._classes([each for each in known.values() if isinstance(each, type) and not is_agent(each)])

    def _both(self, watch: Callable[..., Block | None], called: str, awaited: str) -> dict[str, Wrap]:
        return self.pair(lambda original: watch, called, awaited)

    def _replace(self, cls: type, wraps: Mapping[str, Wrap]) -> None:
        for name, wrap in wraps.items():
            self.replace(cls, name, wrap)

    def _components(self, pipeline: Any, plan: Plan) -> None:
        """Watch the components of a pipeline, those of classes that were unknown until now included."""
        if self._watched.get(pipeline.graph) is not plan:
            self._classes([type(instance) for _, instance in pipeline.walk() if id(instance) in plan.steps])
            self._watched[pipeline.graph] = plan

    def _classes(self, classes: list[type]) -> None:
        for cls in classes:
            for name, wrap in self._steps.items():
                owner = _owner(cls, name)
                if owner is not None:
                    self.replace(owner, name, wrap)

    def _run(self, pipeline: Any, args: _Given, kwargs: Mapping[str, Any]) -> WatchedRun | None:
        if runs_already(pipeline):
            return None
        plan = plan_of(pipeline, self._settings)
        self._components(pipeline, plan)
        return WatchedRun(pipeline, plan, args[0] if args else kwargs.get("data"), self._settings)

    def _step(self, component: Any, args: _Given, kwargs: Mapping[str, Any]) -> WatchedStep | None:
        return watched_step(component, args, kwargs, self._settings)

    def _making(self, original: Function) -> Function:
        @functools.wraps(original)
        def __call__(cls: type, *args: Any, **kwargs: Any) -> Any:  # noqa: N807 - what makes a component
            made = original(cls, *args, **kwargs)
            with guarded(f"Haystack, component {cls.__name__!r}"):
                if self.on and step_by_hand(made, self._settings) is not None:
                    self._classes([cls])
            return made

        return __call__

    def _agent(self, agent: Any, args: _Given, kwargs: Mapping[str, Any]) -> WatchedAgent:
        inputs = {"messages": args[0], **kwargs} if args else kwargs
        run = running.get()
        answers = run is not None and run.answers and not run.plan.readers
        return WatchedAgent(agent, inputs, self._settings, answers=answers)

    def _tool(self, tool: Any, args: _Given, kwargs: Mapping[str, Any]) -> WatchedTool | None:
        return watched_tool(tool, kwargs, self._settings)

    def _generator(self, original: Function) -> Function:
        @functools.wraps(original)
        def run_async_generator(pipeline: Any, *args: Any, **kwargs: Any) -> AsyncGenerator[Any, None]:
            generator: AsyncGenerator[Any, None] = original(pipeline, *args, **kwargs)
            watched = None
            with guarded("Haystack pipeline"):
                watched = self._run(pipeline, args, kwargs) if self.on else None
            return generator if watched is None else AsyncSteps(generator, _Following(watched))

        return run_async_generator


def _owner(cls: type, name: str) -> type | None:
    """Return the class that defines a method, which is where it has to be replaced."""
    return next((each for each in cls.__mro__ if name in vars(each)), None)


class _Following:
    """What follows a generator of a run: that is current while it works, never while its consumer does.

    Args:
        watched: The run.
    """

    def __init__(self, watched: WatchedRun) -> None:
        self._watched = watched
        self._place: Place | None = None

    def begin(self) -> None:
        """Begin the run, with the first step."""
        with self.step():
            self._watched.__enter__()

    @contextmanager
    def step(self) -> Iterator[None]:
        """Be where the run was at the end of the last step."""
        before = Place.here()
        if self._place is not None:
            self._place.resume()
        try:
            yield
        finally:
            self._place = Place.here()
            before.resume()

    def add(self, item: Any) -> None:
        """Take in nothing: the components of the run report what they return."""

    def end(self, error: BaseException | None = None) -> None:
        """End the run; a consumer that had enough is no error."""
        failed = None if isinstance(error, GeneratorExit) else error
        with self.step():
            self._watched.__exit__(type(failed) if failed else None, failed, None)
