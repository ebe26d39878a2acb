"""The command ``everystump``, one module per subcommand."""

from everystump.cli.main import main

__all__ = ["main"]
