"""`python -m paramid` is the command line."""

from paramid.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
