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
from typing import Any, Final

from rop_otel.instrumenting import AsyncSteps, Settings, create_lock, failure, raise_if_delivered
from rop_otel_haystack.agents import WatchedAgent, WatchedTool, watched_tool
from rop_otel_haystack.components import WatchedStep, watched_step
from rop_otel_haystack.kinds import is_agent
from rop_otel_haystack.plan import plan_of, step_by_hand
from rop_otel_haystack.runs import Place, WatchedRun, running, runs_already

_COMPONENT_METHODS: Final = ("run", "run_async")
_Watched = WatchedRun | WatchedStep | WatchedAgent | WatchedTool
_Watch = Callable[[Any, tuple[Any, ...], Mapping[str, Any]], _Watched | None]


class Patches:
    """The methods that one instrumentor replaced.

    Args:
        settings: The user's.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._active = True
        self._lock = create_lock()
        self._replaced: dict[tuple[type, str], tuple[Any, Any]] = {}

    def pipeline(self, cls: type) -> None:
        """Watch the runs of a class of pipelines; after :meth:`undo`, do nothing."""
        if not self._active:
            return
        makers: dict[str, Callable[[Any], Any]] = {
            "run": functools.partial(_sync, self._watched),
            "run_async": functools.partial(_async, self._watched),
            "run_async_generator": self._generator,
        }
        for name, make in makers.items():
            if name in vars(cls):
                self._replace(cls, name, make)

    def agent(self, cls: type) -> None:
        """Watch the runs of a class of agents; after :meth:`undo`, do nothing."""
        self._both(cls, ("run", "run_async"), self._agent)

    def tool(self, cls: type) -> None:
        """Watch the calls of a class of tools; after :meth:`undo`, do nothing."""
        self._both(cls, ("invoke", "invoke_async"), self._tool)

    def making(self, cls: type) -> None:
        """Watch how components are made, whose own methods are watched then; after :meth:`undo`, do nothing.

        Of those that were made before, other components and functions may run any: their classes are watched, too.
        """
        if self._active:
            self._replace(cls, "__call__", self._making)
            known = getattr(getattr(sys.modules[cls.__module__], "component", None), "registry", {})
            self._classes([each for each in known.values() if isinstance(each, type) and not is_agent(each)])

    def undo(self) -> None:
        """Put the originals back; a method that others replaced since stays, and passes on what it is called with."""
        with self._lock:
            self._active = False
            replaced, self._replaced = self._replaced, {}
            for (cls, name), (original, ours) in replaced.items():
                if vars(cls).get(name) is ours:
                    setattr(cls, name, original)

    def _both(self, cls: type, names: tuple[str, str], watch: _Watch) -> None:
        for name, make in zip(names, (_sync, _async), strict=True):
            if self._active and name in vars(cls):  # older tools are not awaited
                self._replace(cls, name, functools.partial(make, watch))

    def _replace(self, cls: type, name: str, make: Callable[[Any], Any]) -> None:
        original = vars(cls)[name]
        ours = make(original)
        if (cls, name) not in self._replaced:  # as it is where a signal handler has just done so
            self._replaced[cls, name] = original, ours
            setattr(cls, name, ours)

    def _components(self, pipeline: Any) -> None:
        """Watch the components of a pipeline, those of classes that were unknown until now included."""
        steps = plan_of(pipeline, self._settings).steps
        self._classes([type(instance) for _, instance in pipeline.walk() if id(instance) in steps])

    def _classes(self, classes: list[type]) -> None:
        wanted = [(_owner(cls, name), name) for cls in classes for name in _COMPONENT_METHODS]
        missing = [(owner, name) for owner, name in wanted if owner is not None and (owner, name) not in self._replaced]
        for owner, name in missing:
            with self._lock:
                if self._active and (owner, name) not in self._replaced:
                    self._replace(owner, name, functools.partial(_sync if name == "run" else _async, self._step))

    def _watched(self, pipeline: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> WatchedRun | None:
        if not self._active or runs_already(pipeline):
            return None
        try:
            self._components(pipeline)
        except Exception as error:  # noqa: BLE001 - monitoring never raises into the application
            raise_if_delivered(error)
            failure("Haystack pipeline", "it could not be watched")
            return None
        return WatchedRun(pipeline, args[0] if args else kwargs.get("data"), self._settings)

    def _step(self, component: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> WatchedStep | None:
        return watched_step(component, args, kwargs, self._settings) if self._active else None

    def _making(self, original: Any) -> Any:
        @functools.wraps(original)
        def __call__(cls: type, *args: Any, **kwargs: Any) -> Any:  # noqa: N807 - what makes a component
            made = original(cls, *args, **kwargs)
            try:
                if self._active and step_by_hand(made, self._settings) is not None:
                    self._classes([cls])
            except Exception as error:  # noqa: BLE001 - monitoring never raises into the application
                raise_if_delivered(error)
                failure(f"Haystack component {cls.__name__!r}", "it could not be watched")
            return made

        return __call__

    def _agent(self, agent: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> WatchedAgent | None:
        inputs = {"messages": args[0], **kwargs} if args else kwargs
        run = running.get()
        answers = run is not None and run.answers and not run.plan.readers
        return WatchedAgent(agent, inputs, self._settings, answers=answers) if self._active else None

    def _tool(self, tool: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> WatchedTool | None:
        return watched_tool(tool, kwargs, self._settings) if self._active else None

    def _generator(self, original: Any) -> Any:
        @functools.wraps(original)
        def run_async_generator(pipeline: Any, *args: Any, **kwargs: Any) -> AsyncGenerator[Any, None]:
            generator: AsyncGenerator[Any, None] = original.__get__(pipeline, type(pipeline))(*args, **kwargs)
            watched = self._watched(pipeline, args, kwargs)
            return generator if watched is None else AsyncSteps(generator, _Following(watched))

        return run_async_generator


def _owner(cls: type, name: str) -> type | None:
    """Return the class that defines a method, which is where it has to be replaced."""
    return next((each for each in cls.__mro__ if name in vars(each)), None)


def _sync(watch: _Watch, original: Any) -> Any:
    @functools.wraps(original)
    def run(instance: Any, *args: Any, **kwargs: Any) -> Any:
        call = original.__get__(instance, type(instance))
        watched = watch(instance, args, kwargs)
        if watched is None:
            return call(*args, **kwargs)
        with watched:
            outputs = call(*args, **kwargs)
            watched.returned(outputs)
        return outputs

    return run


def _async(watch: _Watch, original: Any) -> Any:
    @functools.wraps(original)
    async def run_async(instance: Any, *args: Any, **kwargs: Any) -> Any:
        call = original.__get__(instance, type(instance))
        watched = watch(instance, args, kwargs)
        if watched is None:
            return await call(*args, **kwargs)
        with watched:
            outputs = await call(*args, **kwargs)
            watched.returned(outputs)
        return outputs

    return run_async


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
