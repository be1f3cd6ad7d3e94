"""The monitor's API: what the live page and other programs read."""

from rop_otel.monitor.api.app import create_api

__all__ = ["create_api"]
