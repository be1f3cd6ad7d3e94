"""A complete hybrid retrieval pipeline over real text, instrumented with this package's public names only."""
