"""Reads IDs, scores and scopes out of any object that a retrieval function takes or returns."""
