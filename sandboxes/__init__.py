"""Disposable, hardened boxes for hostile programs behind one small protocol (`base`)."""
