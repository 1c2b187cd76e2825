"""Entities and relations by a language model, called through litellm."""
