"""Entities and relations by rule and by the spaCy pipeline: no key, no network."""
