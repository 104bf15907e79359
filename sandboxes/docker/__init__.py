"""The providers whose places are containers of a Docker engine: `container` and `nested`."""
