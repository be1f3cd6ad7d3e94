"""OTLP's messages as this project reads them from protobuf: the fields that it uses, and lists in one piece.

The generated classes make a Python object of each item of a list. Here an item of an array is the bytes that it is
written in, so that a list of IDs or scores is read at once: three times as fast, and it is most of a request. On the
wire nothing differs. A text is read as bytes, so that one that is no UTF-8 spoils its own span only.
"""

from __future__ import annotations

from typing import Any, Final

from google.protobuf.descriptor_pb2 import FieldDescriptorProto as Field
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass

_PACKAGE: Final = "rop_otel.otlp"
_BYTES: Final = Field.TYPE_BYTES
_FIELDS: Final[dict[str, dict[str, tuple[int, int | str]]]] = {
    "Request": {"resource_spans[]": (1, "ResourceSpans")},
    "ResourceSpans": {"resource": (1, "Resource"), "scope_spans[]": (2, "ScopeSpans")},
    "Resource": {"attributes[]": (1, "KeyValue")},
    "ScopeSpans": {"scope": (1, "Scope"), "spans[]": (2, "Span")},
    "Scope": {"name": (1, _BYTES)},
    "Span": {
        "trace_id": (1, _BYTES),
        "span_id": (2, _BYTES),
        "parent_span_id": (4, _BYTES),
        "name": (5, _BYTES),
        "kind": (6, Field.TYPE_INT32),
        "start_time_unix_nano": (7, Field.TYPE_FIXED64),
        "end_time_unix_nano": (8, Field.TYPE_FIXED64),
        "attributes[]": (9, "KeyValue"),
        "dropped_attributes_count": (10, Field.TYPE_UINT32),
        "events[]": (11, "Event"),
        "dropped_events_count": (12, Field.TYPE_UINT32),
        "status": (15, "Status"),
    },
    "Event": {"name": (2, _BYTES), "attributes[]": (3, "KeyValue")},
    "Status": {"code": (3, Field.TYPE_INT32)},
    "KeyValue": {"key": (1, _BYTES), "value": (2, "Value")},
    "KeyValues": {"values[]": (1, "KeyValue")},
    "Items": {"values[]": (1, _BYTES)},
    "Value": {
        "string_value": (1, _BYTES),
        "bool_value": (2, Field.TYPE_BOOL),
        "int_value": (3, Field.TYPE_INT64),
        "double_value": (4, Field.TYPE_DOUBLE),
        "array_value": (5, "Items"),
        "kvlist_value": (6, "KeyValues"),
        "bytes_value": (7, _BYTES),
    },
}
"""Name of a message to the names of its fields, ``[]`` for repeated ones, with their numbers and types."""


def _classes() -> dict[str, Any]:
    """Return the class of each message."""
    file = FileDescriptorProto(name="rop_otel/otlp.proto", package=_PACKAGE, syntax="proto2")
    for message, fields in _FIELDS.items():
        made = file.message_type.add(name=message)
        if message == "Value":
            made.oneof_decl.add(name="value")
        for field, (number, kind) in fields.items():
            label = Field.LABEL_REPEATED if field.endswith("[]") else Field.LABEL_OPTIONAL
            row = made.field.add(name=field.removesuffix("[]"), number=number, label=label)
            if message == "Value":
                row.oneof_index = 0
            if isinstance(kind, str):
                row.type, row.type_name = Field.TYPE_MESSAGE, f".{_PACKAGE}.{kind}"
            else:
                row.type = Field.Type.ValueType(kind)
    pool = DescriptorPool()
    pool.Add(file)
    return {name: GetMessageClass(pool.FindMessageTypeByName(f"{_PACKAGE}.{name}")) for name in _FIELDS}


_CLASSES: Final = _classes()
Request: Final[Any] = _CLASSES["Request"]
"""An ``ExportTraceServiceRequest``."""

Value: Final[Any] = _CLASSES["Value"]
"""An ``AnyValue``."""
