"""What a person types and imports: the client (`Agent`) and the `loom` command line."""
