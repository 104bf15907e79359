"""Single-use containers run by crun or runc themselves: what Docker would make, without Docker.

Each program has a container of its own, created ahead with the launcher waiting in it, used
once and removed whole.
"""
