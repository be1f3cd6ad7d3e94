"""The API that users type, over the OpenTelemetry API only: stages, handoffs, the ledger of open handoffs."""
