"""The Celery fleet: it gates, leases and measures; what is done with a row is decided in `loom_core`."""
