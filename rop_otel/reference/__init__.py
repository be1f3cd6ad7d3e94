"""The demo's pipeline: complete hybrid retrieval over real text, instrumented with public names only."""
