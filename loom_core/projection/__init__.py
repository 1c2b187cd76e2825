"""From memory rows to graph rows: idempotent, because every graph table but one is a set keyed by identity."""
