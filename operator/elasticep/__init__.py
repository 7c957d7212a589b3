"""An operator for SGLang elastic expert-parallel groups on Kubernetes."""
