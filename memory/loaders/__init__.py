"""Readers of foreign formats: bytes in, episodes out; nothing here opens a file."""
