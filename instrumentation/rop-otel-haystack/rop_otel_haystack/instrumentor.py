"""The instrumentor of Haystack."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial
from types import ModuleType
from typing import Any, Final

from opentelemetry.instrumentation.instrumentor import BaseInstrumentor  # type: ignore[attr-defined,unused-ignore]
from wrapt import register_post_import_hook

from rop_otel.instrumenting import Settings, configure_once, supported
from rop_otel_haystack.patching import HaystackPatches

VERSIONS: Final = ">=2.18,<4"

_PIPELINES: Final = ("Pipeline", "AsyncPipeline")
"""Classes of pipelines: version 3 has one, versions before it another one for asynchronous runs."""


class HaystackInstrumentor(BaseInstrumentor):  # type: ignore[misc,unused-ignore]
    """Watches Haystack's pipelines and agents from :meth:`instrument` to :meth:`uninstrument`.

    ``instrument`` takes the settings of :class:`rop_otel.instrumenting.Settings`; each has an environment variable too.
    ``stages`` may also name a component as the pipeline does.
    """

    _patches: HaystackPatches | None = None

    def instrumentation_dependencies(self) -> Collection[str]:
        """Return nothing: the versions are checked, and warned of, in :meth:`instrument`."""
        return ()

    def _instrument(self, **arguments: Any) -> None:
        settings = Settings.resolve(**arguments)
        if not supported("haystack-ai", VERSIONS):
            return
        configure_once()
        self._patches = patches = HaystackPatches(settings)
        # Haystack decides at its import whether it sends telemetry: when that is remains the application's to choose.
        register_post_import_hook(partial(_watch, patches.pipeline, _PIPELINES), "haystack")
        register_post_import_hook(
            partial(_watch, patches.making, ("ComponentMeta",)), "haystack.core.component.component"
        )
        register_post_import_hook(partial(_watch, patches.agent, ("Agent",)), "haystack.components.agents.agent")
        register_post_import_hook(partial(_watch, patches.tool, ("Tool",)), "haystack.tools.tool")

    def _uninstrument(self, **arguments: Any) -> None:
        patches, self._patches = self._patches, None
        if patches is not None:
            patches.undo()


def _watch(watch: Callable[[type], None], names: tuple[str, ...], module: ModuleType) -> None:
    """Watch the classes of these names that a module has."""
    for cls in (getattr(module, name, None) for name in names):
        if cls is not None:
            watch(cls)
