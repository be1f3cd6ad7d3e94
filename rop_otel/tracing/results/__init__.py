"""IDs, scores and scopes read out of whatever a retrieval function takes and gives."""
