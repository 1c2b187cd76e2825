"""The write path of memory rows, and their reads."""
