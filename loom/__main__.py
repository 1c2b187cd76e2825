"""`python -m loom` is the `loom` command."""

from loom.cli import main

if __name__ == "__main__":
    main(prog_name="loom")
