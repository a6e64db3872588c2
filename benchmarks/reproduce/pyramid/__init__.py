"""docs/pyramid.md, in parts: `page` puts them together."""
