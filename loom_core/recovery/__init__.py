"""Brings back what failed: units projected again, slots derived again, tries that never reported counted."""
