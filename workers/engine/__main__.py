"""Entry point of the engine's command line: `python -m workers.engine`."""

import sys

from workers.engine.cli import main

sys.exit(main())
