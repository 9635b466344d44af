"""Builds real Kubernetes from its Go modules and runs it on loopback for tests."""


class HarnessError(Exception):
    """An expected failure: its text is the one line the user sees."""
