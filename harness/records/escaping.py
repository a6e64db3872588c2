"""Words of others where something would act upon them: a terminal, a spreadsheet, a table in Markdown.

What reaches a page of HTML goes through `board.markup.escaped`.
"""

FORMULAS = "=+-@\t\r"  # what a spreadsheet takes for the beginning of one


def harmless(words: str) -> bool:
    """Whether a terminal only shows them, in as many lines as they have."""
    return words.replace("\n", "").replace("\t", "").isprintable()


def for_terminal(words: str) -> str:
    """The same with what a terminal would obey replaced."""
    return words if harmless(words) else "".join(c if harmless(c) else "\N{REPLACEMENT CHARACTER}" for c in words)


def for_csv(value: object) -> object:
    """A cell of a spreadsheet: text that would be a formula begins with an apostrophe."""
    if not isinstance(value, str):
        return value
    plain = for_terminal(value)
    return f"'{plain}" if plain[:1] in FORMULAS and plain else plain


def for_markdown(words: str) -> str:
    """A cell of a table in Markdown: a line, without bars and tags."""
    line = " ".join(for_terminal(words).split("\n"))
    return line.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")
