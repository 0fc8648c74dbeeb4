"""How good the answers are: an outside harness asks the served product, over REST and MCP."""
