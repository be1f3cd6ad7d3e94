"""Analyses over many handoffs: frozen rankings, tables with intervals, transitions, declarations of every cell."""
