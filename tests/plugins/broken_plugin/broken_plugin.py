"""A package that cannot be imported."""

raise ImportError("no such thing as it needs")
