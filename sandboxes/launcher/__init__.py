"""A program of ours that sits where hostile programs run, and the host's side of it.

Whatever makes the place (a container, an OCI bundle, plain namespaces), the launcher in it is
the same: it takes one request at a time over a byte stream, lays the files down, confines and
runs the program, and reports how it ended. It holds no secret and is told nothing but what
the program may know.
"""
