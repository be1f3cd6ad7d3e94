"""The command line: one file per verb, words and exit codes only."""
