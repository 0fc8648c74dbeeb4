"""What every test of this repository stands on."""
