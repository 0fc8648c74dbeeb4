"""What everything stands on: errors, time, ids, canonical JSON. Imports nothing of ours."""
