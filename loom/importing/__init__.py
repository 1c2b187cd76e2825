"""Real input into memory rows: git histories, JSON lines, folders of Markdown."""
