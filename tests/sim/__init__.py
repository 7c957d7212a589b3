"""The planner in a world that goes wrong in every way, at random: see README.md."""
