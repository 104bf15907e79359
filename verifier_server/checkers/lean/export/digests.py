"""Digests by which names, levels, terms and declarations are told apart.

Each covers all that the kernel looks at, and nothing else: names and kinds of bound variables
and hints for unfolding are left out. Every piece is preceded by its kind and length, so that
different contents never give the same bytes.
"""

from __future__ import annotations

from hashlib import sha256

SIZE = 32


def digest(tag: str, *parts: bytes | str | int | tuple[bytes, ...]) -> bytes:
    """The digest of a node of kind `tag` with these parts, in order."""
    found = sha256(tag.encode())
    for part in parts:
        if isinstance(part, tuple):
            found.update(b"l%d:" % len(part))
            found.update(b"".join(part))
            continue
        if isinstance(part, int):
            kind, content = b"i", b"%d" % part
        else:
            kind = b"b" if isinstance(part, bytes) else b"s"
            content = part if isinstance(part, bytes) else part.encode()
        found.update(b"%b%d:" % (kind, len(content)))
        found.update(content)
    return found.digest()


__all__ = ["SIZE", "digest"]
