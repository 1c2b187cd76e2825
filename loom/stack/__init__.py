"""The whole stack on one machine: `loom up`, and how every other command finds it."""
