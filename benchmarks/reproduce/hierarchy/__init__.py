"""docs/hierarchy.md, in parts: `page` puts them together."""
