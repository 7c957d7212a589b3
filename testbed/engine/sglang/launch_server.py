"""`python3 -m sglang.launch_server ARGS`: the command that pods run."""

import sys

from simengine.__main__ import main

if __name__ == "__main__":
    sys.exit(main())
