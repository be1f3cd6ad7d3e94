"""The instrumentor of Haystack."""

from __future__ import annotations

from collections.abc import Collection
from types import ModuleType
from typing import Any, Final

from opentelemetry.instrumentation.instrumentor import BaseInstrumentor  # type: ignore[attr-defined,unused-ignore]
from wrapt import register_post_import_hook

from rop_otel.instrumenting import Settings, configure_once, supported
from rop_otel_haystack.patching import Patches

VERSIONS: Final = ">=2.18,<4"


class HaystackInstrumentor(BaseInstrumentor):  # type: ignore[misc,unused-ignore]
    """Watches Haystack's pipelines from :meth:`instrument` to :meth:`uninstrument`.

    ``instrument`` takes the settings of :class:`rop_otel.instrumenting.Settings`; each has an environment variable too.
    ``stages`` may also name a component as the pipeline does.
    """

    _patches: Patches | None = None

    def instrumentation_dependencies(self) -> Collection[str]:
        """Return nothing: the versions are checked, and warned of, in :meth:`instrument`."""
        return ()

    def _instrument(self, **arguments: Any) -> None:
        settings = Settings.resolve(**arguments)
        if not supported("haystack-ai", VERSIONS):
            return
        configure_once()
        self._patches = patches = Patches(settings)
        # Haystack decides at its import whether it sends telemetry: when that is remains the application's to choose.
        register_post_import_hook(lambda haystack: _watch(patches, haystack), "haystack")

    def _uninstrument(self, **arguments: Any) -> None:
        patches, self._patches = self._patches, None
        if patches is not None:
            patches.undo()


def _watch(patches: Patches, haystack: ModuleType) -> None:
    """Watch the classes of pipelines: version 3 has one, versions before it another one for asynchronous runs."""
    for name in ("Pipeline", "AsyncPipeline"):
        cls = getattr(haystack, name, None)
        if cls is not None:
            patches.pipeline(cls)
