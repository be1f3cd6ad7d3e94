"""Stages: their declarations, the facts of their executions, and how functions and blocks become stages."""
