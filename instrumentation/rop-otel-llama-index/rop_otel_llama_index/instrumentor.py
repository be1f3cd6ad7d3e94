"""Switches the watching of LlamaIndex on and off."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any, Final

from opentelemetry.instrumentation.instrumentor import BaseInstrumentor  # type: ignore[attr-defined,unused-ignore]

from rop_otel.instrumenting import Settings, configure_once, guarded, supported

if TYPE_CHECKING:
    from rop_otel_llama_index.installing import Installed

VERSIONS: Final = ">=0.12,<0.15"


class LlamaIndexInstrumentor(BaseInstrumentor):  # type: ignore[misc,unused-ignore]
    """Watches every engine, workflow, agent and retriever of the process.

    ``instrument`` takes the settings of :class:`rop_otel.instrumenting.Settings`; each has an environment variable too.
    """

    _installed: Installed | None = None

    def instrumentation_dependencies(self) -> Collection[str]:
        """Return none: another version is reported with a warning of our own, whichever way this is started."""
        return ()

    def _instrument(self, **kwargs: Any) -> None:
        settings = Settings.resolve(**kwargs)
        if not supported("llama-index-core", VERSIONS):
            return
        configure_once()
        with guarded("LlamaIndex, this installation"):  # the application starts, whatever has become of its modules
            from rop_otel_llama_index.installing import Installed  # imports LlamaIndex

            self._installed = Installed(settings)

    def _uninstrument(self, **kwargs: Any) -> None:
        installed, self._installed = self._installed, None
        if installed is not None:
            installed.remove()
