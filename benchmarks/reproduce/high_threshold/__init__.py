"""docs/high-threshold.md, in parts: `page` puts them together."""
