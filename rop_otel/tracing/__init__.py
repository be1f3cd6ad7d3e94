"""The API that users call: stages, handoffs, the ledger of open handoffs. It uses the OpenTelemetry API only.

Each room imports only those before it:

- ``results``: reads IDs, scores and scopes out of any object
- ``position``: keeps the caller's handoff, stage and round in the OpenTelemetry context
- ``running``: what every handoff of the process uses: the runtime, the ledger, diagnostics, the log, the writing on
  spans
- ``stages``: a stage's declaration, the facts of its executions, and the decorators and blocks that make stages
- ``handoffs``: a handoff's facts and answers, and how it begins and ends

A file that begins with ``live_`` holds a monitored object; one that begins with ``noop_`` its twin that does nothing.
"""
