"""Values and rules of who is asking; no I/O, no Django."""
