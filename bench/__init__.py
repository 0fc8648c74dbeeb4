"""Measurements: every rate a ratio to a baseline taken in the same run on the same machine."""
