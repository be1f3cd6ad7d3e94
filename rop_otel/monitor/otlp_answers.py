"""What OTLP has a receiver answer, in protobuf."""

from __future__ import annotations

from typing import Final

from google.rpc.error_details_pb2 import RetryInfo
from google.rpc.status_pb2 import Status
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

from rop_otel.monitor.refusals import Answer

PROTOBUF: Final = "application/x-protobuf"
UNAVAILABLE: Final = "the store cannot keep spans now; send them again later"
_RETRY_SECONDS: Final = 1


def accepted(answer: Answer) -> bytes:
    """Return the answer to a request whose spans are kept; where some were refused it is a partial success."""
    response = ExportTraceServiceResponse()
    if answer.rejected:
        response.partial_success.rejected_spans = answer.rejected
        response.partial_success.error_message = answer.message
    return bytes(response.SerializeToString())


def failed(message: str) -> bytes:
    """Return the answer to a request that failed."""
    return bytes(Status(message=message).SerializeToString())


def refused_for_now(code: int, message: str) -> bytes:
    """Return the answer to a request that is to be sent again, with gRPC's code and how long to wait."""
    status = Status(code=code, message=message)
    again = RetryInfo()
    again.retry_delay.seconds = _RETRY_SECONDS
    status.details.add().Pack(again)
    return bytes(status.SerializeToString())
