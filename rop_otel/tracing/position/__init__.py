"""The caller's position: its handoff, stage and round, kept in the context."""
