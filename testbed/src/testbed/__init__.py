"""A real Kubernetes cluster with GPU nodes on one machine, without a container engine."""
