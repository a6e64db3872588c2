"""`python -m paramid` is `paramid`."""

import sys

from paramid.cli import main

sys.exit(main())
