"""What every handoff of the process uses: the runtime, the ledger of open handoffs, diagnostics, the log."""
