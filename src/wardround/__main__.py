"""`python -m wardround` is the command line."""

import sys

from wardround.cli import main

if __name__ == "__main__":
    sys.exit(main())
