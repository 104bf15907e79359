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
    pieces = [tag.encode()]
    for part in parts:
        if type(part) is bytes:
            pieces.append(b"b%d:" % len(part))
            pieces.append(part)
        elif isinstance(part, tuple):
            pieces.append(b"l%d:" % len(part))
            pieces.extend(part)
        elif isinstance(part, int):
            pieces.append(b"i%d:" % part)
        else:
            content = part.encode() if isinstance(part, str) else part
            pieces.append(b"s%d:" % len(content))
            pieces.append(content)
    return sha256(b"".join(pieces)).digest()


__all__ = ["SIZE", "digest"]
