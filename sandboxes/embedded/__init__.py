"""The providers that need no daemon."""
