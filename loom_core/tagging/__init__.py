"""Rows written without entities get them here, off the write path: which are due, and how a batch is read."""
