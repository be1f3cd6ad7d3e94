"""Published formats of questions, tables, passages, runs and judgments, read as our JSON Lines."""
