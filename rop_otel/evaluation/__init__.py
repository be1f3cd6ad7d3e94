"""Assesses ROP record files against a declaration, and writes their run reports."""
