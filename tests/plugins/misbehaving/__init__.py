"""A plugin that does on demand everything a checker must not do."""
