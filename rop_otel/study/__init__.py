"""Analyses over many recorded selections: frozen rankings, tables, intervals."""
