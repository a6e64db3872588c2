"""docs/quadratic.md, in parts: `page` puts them together."""
