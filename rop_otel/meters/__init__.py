"""OpenTelemetry API only: the tally, instruments made from semconv, evaluation events."""
