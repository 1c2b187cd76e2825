"""A community pass over one namespace: edges read as hashes, partitioned, written whole, then shown."""
