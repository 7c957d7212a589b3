"""What is known at one moment: frozen values, no I/O, no clock.

What could not be read is *unknown*, which is a value of its own and never an old reading.
"""
