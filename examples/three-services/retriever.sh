#!/bin/sh
# The retriever: no Python, no OpenTelemetry. It prints the pages that it finds, and sends the span that says so with
# curl, as OTLP in JSON. The attributes rop.stage and rop.returned.ids are all that a stage needs; rop.returned.scores
# is welcome. The trace and the span above come with W3C's traceparent: 00-<trace ID>-<span ID>-<flags>.
set -eu

pages="page-3 page-1 page-2"

trace=$(echo "$TRACEPARENT" | cut -d - -f 2)
parent=$(echo "$TRACEPARENT" | cut -d - -f 3)
span=$(od -An -N8 -tx1 /dev/urandom | tr -d ' \n')
now=$(date +%s)000000000

ids=$(for page in $pages; do printf '%s{"stringValue":"%s"}' "${comma:-}" "$page"; comma=,; done)
curl --silent --show-error --fail --output /dev/null --header 'Content-Type: application/json' --data @- \
  "$OTEL_EXPORTER_OTLP_TRACES_ENDPOINT" <<EOF
{"resourceSpans": [{
  "resource": {"attributes": [{"key": "service.name", "value": {"stringValue": "retriever"}}]},
  "scopeSpans": [{"scope": {"name": "retriever.sh"}, "spans": [{
    "traceId": "$trace", "spanId": "$span", "parentSpanId": "$parent", "name": "search",
    "startTimeUnixNano": "$now", "endTimeUnixNano": "$now",
    "attributes": [
      {"key": "rop.stage", "value": {"stringValue": "lexical"}},
      {"key": "rop.returned.ids", "value": {"arrayValue": {"values": [$ids]}}}
    ]
  }]}]
}]}
EOF
echo "$pages"
