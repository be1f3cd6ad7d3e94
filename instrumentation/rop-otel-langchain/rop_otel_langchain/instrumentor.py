"""Switches the watching of LangChain on and off."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any, Final

from opentelemetry.instrumentation.instrumentor import BaseInstrumentor  # type: ignore[attr-defined,unused-ignore]

from rop_otel.instrumenting import Patches, Settings, configure_once, supported

if TYPE_CHECKING:
    from rop_otel_langchain.watching import Watching

VERSIONS: Final = ">=0.3,<2"
"""Versions of langchain-core that are watched."""


class LangChainInstrumentor(BaseInstrumentor):  # type: ignore[misc,unused-ignore]
    """Watches every chain of the process.

    ``instrument`` takes the settings of :class:`rop_otel.instrumenting.Settings`; each has an environment variable too.
    """

    _patches: Patches | None = None
    _watching: Watching | None = None

    def instrumentation_dependencies(self) -> Collection[str]:
        """Return none: a version that is not watched is reported by a warning of our own, where it is used."""
        return ()

    def _instrument(self, **arguments: Any) -> None:
        settings = Settings.resolve(**arguments)
        if not supported("langchain-core", VERSIONS):
            return
        configure_once()
        # LangChain is imported only here: another version may lack what these modules use.
        from rop_otel_langchain.chains import watch_chains
        from rop_otel_langchain.components import watch_components
        from rop_otel_langchain.functions import watch_functions
        from rop_otel_langchain.prompts import watch_prompts
        from rop_otel_langchain.rounds import watch_tools
        from rop_otel_langchain.watching import Watching

        self._watching = watching = Watching(settings)
        self._patches = Patches("LangChain")
        watch_components(self._patches, watching)
        watch_functions(self._patches, watching)
        watch_prompts(self._patches, watching)
        watch_tools(self._patches, watching)
        watch_chains(self._patches, watching)

    def _uninstrument(self, **_: Any) -> None:
        if self._patches is not None and self._watching is not None:
            self._watching.on = False
            self._patches.undo()
            self._patches = self._watching = None
