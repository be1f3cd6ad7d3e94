"""The service: spans of any number of processes in, their handoffs assessed, kept and counted."""
