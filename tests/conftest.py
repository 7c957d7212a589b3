"""What holds for all tests: random ones play the same examples for the same code.

A red build is then the change's doing, and can be repeated. To look for what nobody has thought
of, let them be random: HYPOTHESIS_PROFILE=hunt make model MODEL_RUNS=20000.
"""

import os

from hypothesis import settings

settings.register_profile("repeat", derandomize=True)
settings.register_profile("hunt", derandomize=False)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeat"))
