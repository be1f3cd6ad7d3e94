"""Handoffs: how they are opened, what is said of them, and how they end."""
