"""The CRD, and its verdict without an API server.

Above the API's models and the engine's contract, since the rules need both: bounds and words
come from the models, refused flags and known versions from the contract.
"""
