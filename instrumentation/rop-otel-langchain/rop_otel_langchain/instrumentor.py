"""Switches the watching of LangChain on and off."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final

from opentelemetry.instrumentation.instrumentor import BaseInstrumentor

import rop_otel as rop
from rop_otel.instrumenting import Settings, supported

VERSIONS: Final = ">=1.0,<2"
"""Versions of langchain-core that are watched."""


class LangChainInstrumentor(BaseInstrumentor):
    """Watches LangChain; see the package's README for what is seen."""

    def instrumentation_dependencies(self) -> Collection[str]:
        """Return none: a version that is not watched is told by a warning of our own, where it is used."""
        return ()

    def _instrument(
        self, *, kinds: Mapping[str, str | None] | None = None, label_key: str | None = None, **settings: Any
    ) -> None:
        decided = Settings.resolve(**settings)
        self._patches = None
        if not supported("langchain-core", VERSIONS):
            return
        rop.configure()
        # LangChain is imported only here: another version may lack what these modules use.
        from rop_otel_langchain.calls import watch_calls
        from rop_otel_langchain.components import watch_components
        from rop_otel_langchain.functions import watch_functions
        from rop_otel_langchain.kinds import Kinds
        from rop_otel_langchain.patching import Patches
        from rop_otel_langchain.watching import Watching

        watching = Watching(decided, Kinds(kinds or {}), label_key)
        self._patches = Patches()
        watch_components(self._patches, watching)
        watch_functions(self._patches, watching)
        watch_calls(self._patches, watching)

    def _uninstrument(self, **_: Any) -> None:
        if self._patches is not None:
            self._patches.undo()
