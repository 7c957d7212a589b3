"""Every read of one look at a group: the API server's objects and the leader's engine."""
