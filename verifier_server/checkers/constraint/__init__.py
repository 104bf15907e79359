"""The `constraint` checker: rules that a text must keep, each judged alone."""
