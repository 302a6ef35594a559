"""The parts of the misbehaving provider; `tests.provider.Provider` is what tests use."""
