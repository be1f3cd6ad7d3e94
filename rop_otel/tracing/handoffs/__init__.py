"""Handoffs: how they begin, their facts and answers, and how they end."""
