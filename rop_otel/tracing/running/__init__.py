"""What the process works with: its runtime, what is open in it, and what goes wrong in it."""
