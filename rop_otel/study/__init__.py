"""Analyses over many recorded selections: cohorts, frozen rankings, tables, intervals, transitions, deletion."""
