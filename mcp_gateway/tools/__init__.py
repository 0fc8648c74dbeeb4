"""What agents can call: each tool parses its arguments, calls one service and renders."""
