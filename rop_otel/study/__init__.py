"""Analyses over many handoffs: cohorts, frozen rankings, tables, intervals, transitions, deletion."""
