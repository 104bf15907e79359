"""Images of boxes: what a container's root file system holds, and how it comes about."""
