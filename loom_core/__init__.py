"""The memory graph: what is stored, how it is derived, how it is read. Knows nothing of the fleet."""
