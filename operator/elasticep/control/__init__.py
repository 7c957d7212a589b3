"""The only code that talks to a leader's engine over HTTP."""
