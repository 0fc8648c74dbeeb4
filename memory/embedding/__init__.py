"""Turns text into vectors: what an embedder is, the local one, and who may ask it when."""
