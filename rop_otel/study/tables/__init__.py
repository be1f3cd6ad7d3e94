"""The paper's tables, recomputed from frozen rankings: a file for each family."""
