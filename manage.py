#!/usr/bin/env python
"""Runs a management command: the same as `ampup-memory`, from a checkout."""

import sys

from ampup_site.shell import main

if __name__ == "__main__":
    sys.exit(main())
