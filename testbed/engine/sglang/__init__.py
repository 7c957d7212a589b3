"""Stands where SGLang would be in the engine image: its launch command starts the simulation."""
