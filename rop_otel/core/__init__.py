"""Everything that decides, pure: no telemetry, no I/O, no clock, no environment."""
