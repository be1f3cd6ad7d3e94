"""The API that users type, over the OpenTelemetry API only: stages, handoffs, the ledger of open handoffs.

Each room imports only those before it:

- ``results``: IDs, scores and scopes read out of any object
- ``position``: where the caller is, in the OpenTelemetry context
- ``running``: what the process works with: the runtime, what is open, what goes wrong, what is written on spans
- ``stages``: what is said of a stage by its author and its executions; functions and blocks that become stages
- ``handoffs``: what is said of a handoff and of an answer; how it is opened and ends

A file that begins with ``live_`` holds what is monitored, one that begins with ``noop_`` its twin that does nothing.
"""
