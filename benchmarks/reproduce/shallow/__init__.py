"""docs/shallow.md, in parts: `page` puts them together."""
