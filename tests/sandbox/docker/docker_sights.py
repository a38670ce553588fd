"""What several tests of Docker look at."""

import sys

from tasks.environment import Environment

BARE = Environment(python=f"{sys.version_info.major}.{sys.version_info.minor}", install="")
"""Built without the network: no packages, and a repository that is not installed."""
