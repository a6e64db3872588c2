"""docs/biased-relu.md, in parts: `page` puts them together."""
