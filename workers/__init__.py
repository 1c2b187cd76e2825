"""The fleet: Celery workers on Redis that bring the graph up to date with the memory rows."""
