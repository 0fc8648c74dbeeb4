"""Settings: `base` reads the environment, `test` is what the tests run under."""
