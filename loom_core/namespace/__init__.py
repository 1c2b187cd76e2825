"""Namespaces: their ontology, aliases, settings and what they are about."""
