"""The process: events become keys, keys become reconciles; health, metrics and logs around it."""
