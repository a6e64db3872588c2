"""Commands by which records leave a machine and come to a board: `publish`, `board`, `submit`, `verify`."""
