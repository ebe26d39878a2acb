"""``python -m everystump`` is the command ``everystump``."""

from everystump.cli import main

if __name__ == "__main__":
    main()
