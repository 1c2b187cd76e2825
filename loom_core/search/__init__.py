"""Memories by text, by entity and by their neighbourhood in the graph; what a namespace is about."""
