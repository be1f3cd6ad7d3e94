"""ROP record files assessed against a declaration, and what their run reports say."""
