"""MCP on the wire: one POST, one answer, in both eras of the protocol."""
