"""The parts of tools/apitables."""
