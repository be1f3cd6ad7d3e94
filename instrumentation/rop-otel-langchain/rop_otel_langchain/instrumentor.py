"""Switches the watching of LangChain on and off."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any, Final

from opentelemetry.instrumentation.instrumentor import BaseInstrumentor  # type: ignore[attr-defined,unused-ignore]

import rop_otel as rop
from rop_otel.instrumenting import Settings, configure_once, supported
from rop_otel_langchain.patching import Patches

if TYPE_CHECKING:
    from rop_otel_langchain.watching import Watching

VERSIONS: Final = ">=0.3,<2"
"""Versions of langchain-core that are watched."""


class LangChainInstrumentor(BaseInstrumentor):  # type: ignore[misc,unused-ignore]
    """Watches every chain of the process.

    ``instrument`` takes the settings of :class:`rop_otel.instrumenting.Settings`, each of which has an environment
    variable too, and ``stages``: kinds of stages by the name of a class or function; None says that it is no stage.
    """

    _patches: Patches | None = None
    _watching: Watching | None = None

    def instrumentation_dependencies(self) -> Collection[str]:
        """Return none: a version that is not watched is told by a warning of our own, where it is used."""
        return ()

    def _instrument(self, *, stages: Mapping[str, Any] | None = None, **settings: Any) -> None:
        decided = Settings.resolve(**settings)
        for name, kind in (stages or {}).items():
            if kind is not None and (not isinstance(kind, str) or not kind):
                raise rop.RopError(f"stages[{name!r}] is {kind!r}; it must be the kind of a stage, or None")
        if not supported("langchain-core", VERSIONS):
            return
        configure_once()
        # LangChain is imported only here: another version may lack what these modules use.
        from rop_otel_langchain.chains import watch_chains
        from rop_otel_langchain.components import watch_components
        from rop_otel_langchain.functions import watch_functions
        from rop_otel_langchain.kinds import Kinds
        from rop_otel_langchain.prompts import watch_prompts
        from rop_otel_langchain.watching import Watching

        self._watching = watching = Watching(decided, Kinds(stages or {}))
        self._patches = Patches()
        watch_components(self._patches, watching)
        watch_functions(self._patches, watching)
        watch_prompts(self._patches, watching)
        watch_chains(self._patches, watching)

    def _uninstrument(self, **_: Any) -> None:
        if self._patches is not None and self._watching is not None:
            self._watching.on = False
            self._patches.undo()
            self._patches = self._watching = None
