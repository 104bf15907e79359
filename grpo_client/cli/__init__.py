"""The command line, and the one place that puts a run together."""
