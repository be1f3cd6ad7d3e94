"""The API that users type, over the OpenTelemetry API only: stages, handoffs, the ledger of open handoffs.

What users call is in ``decorating``, ``using`` and ``opening``; what they get is a ``stage.Stage`` or a
``handoff.Handoff``. Behind these:

- what the author says of a stage: ``spec``, ``arguments``; of a handoff: ``declared``
- what an execution tells: ``facts``, written on its span by ``writing``; ``generating`` where it yields
- IDs read out of any object: ``reading``, ``extracting``, ``scalars``; labels out of an answer: ``citing``
- where the caller is: ``here``; what is open: ``ledger``, ``runs``; what the process works with: ``runtime``
- what goes wrong: ``mishaps``; the twins that do nothing: ``silent`` and ``silent_handoff``
"""
