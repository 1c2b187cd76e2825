"""Who works on what, through Redis: leases, turns, wake-ups. Losing all of it costs a delay, never a row."""
