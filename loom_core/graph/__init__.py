"""The rules of the graph: what holds when, which pairs a memory makes, what an ontology says. Pure."""
