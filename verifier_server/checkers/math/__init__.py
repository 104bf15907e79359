"""The `math` checker: extraction, a value model, exact equality by a stated policy."""
