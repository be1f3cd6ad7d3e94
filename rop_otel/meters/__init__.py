"""The tally, instruments made from semconv, and evaluation events. This room uses OpenTelemetry's API only."""
