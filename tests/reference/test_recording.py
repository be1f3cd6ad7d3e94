from __future__ import annotations

from pathlib import Path

import pytest

from rop_otel.errors import InputError
from rop_otel.reference.recording import file_exporter, recording_provider


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_full_disk_is_told_once(caplog: pytest.LogCaptureFixture) -> None:
    """Spans that cannot be written raise nothing and log nothing while the application runs; the end says so."""
    provider = recording_provider(file_exporter(Path("/dev/full")), service_name="test")
    for _ in range(200):
        with provider.get_tracer("test").start_as_current_span("work", attributes={"text": "x" * 1000}):
            pass
    assert caplog.messages == []
    with pytest.raises(InputError, match=r"/dev/full: cannot be written: No space left on device"):
        provider.shutdown()
