"""A checker whose import fails."""

raise RuntimeError("this plugin is broken on purpose")
