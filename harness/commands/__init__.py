"""The commands, one module each: its docstring is its help; an example, its arguments, what it does and leaves behind.

Nothing heavy is imported before a command does something. Imports `words`, `judging`, `contracts`, `records`,
`running`, `identifying`, `statistics`, `pictures`, `board` and `authoring`; only `cli` imports it. Start with `run`.
"""

from collections.abc import Callable

Add = Callable[..., object]  # argparse's add_argument

DONE, FAILED, USAGE, STOPPED = 0, 1, 2, 130
