"""The command ``everystump``: one file a command."""

from everystump.cli.main import main

__all__ = ["main"]
