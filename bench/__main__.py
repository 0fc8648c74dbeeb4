"""`python -m bench`: takes the measurements.

Child processes import the main module again, so it imports nothing before it is run.
"""

import sys

if __name__ == "__main__":
    from bench.running import main

    sys.exit(main())
