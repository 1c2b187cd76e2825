"""The version that documents and clients are told."""

from importlib.metadata import version

VERSION = version("loom-memory")
