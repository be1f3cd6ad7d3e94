"""Stages: what their authors and their executions say, and how functions and blocks become stages."""
