"""`python -m monitor`: the same as `precision-monitor`."""

import sys

from monitor.cli import main

if __name__ == "__main__":
    sys.exit(main())
