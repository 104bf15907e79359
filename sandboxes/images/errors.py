"""What can go wrong with images."""

from __future__ import annotations

from sandboxes.base import SandboxError


class ImageError(SandboxError):
    """An image can't be made, or is not fit for use."""


class WayClosed(ImageError):
    """This host can't take this way to make an image; another may be open."""


__all__ = ["ImageError", "WayClosed"]
