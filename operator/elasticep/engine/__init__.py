"""SGLang's elastic expert parallelism as data: versions, command lines, flags, crash texts."""
