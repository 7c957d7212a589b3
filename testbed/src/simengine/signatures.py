"""Texts that a crashing engine leaves, by name; each carries the fragment people search for.

The fragments are the ones SGLang, PyTorch, Mooncake, UCX and the CUDA runtime print.
"""

from __future__ import annotations

from enum import StrEnum


class Signature(StrEnum):
    """A kind of crash."""

    CUDA_OUT_OF_MEMORY = "cuda_out_of_memory"
    RDMA_DEVICE_MISSING = "rdma_device_missing"
    RDMA_NOT_FOUND_BY_UCX = "rdma_not_found_by_ucx"
    MOONCAKE_TORCH_MISMATCH = "mooncake_torch_mismatch"
    MOONCAKE_BACKEND_UNUSABLE = "mooncake_backend_unusable"
    LIBCUDART_MISSING = "libcudart_missing"
    MEMORY_REGISTRATION = "memory_registration"
    TRANSPORT_RETRY = "transport_retry"
    NIXL_BACKEND = "nixl_backend"
    RANK_OUT_OF_RANGE = "rank_out_of_range"
    DP_SIZE_EXCEEDS_WORLD = "dp_size_exceeds_world"
    WORKER_PORTS = "worker_ports"
    CANNOT_RESOLVE_HOST = "cannot_resolve_host"
    ILLEGAL_MEMORY_ACCESS = "illegal_memory_access"
    MODEL_NOT_FOUND = "model_not_found"


TEXTS: dict[Signature, str] = {
    Signature.CUDA_OUT_OF_MEMORY: (
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.62 GiB. GPU 0 has a "
        "total capacity of 79.11 GiB of which 1.04 GiB is free."
    ),
    Signature.RDMA_DEVICE_MISSING: "RuntimeError: No RDMA devices found, check the device plugin",
    Signature.RDMA_NOT_FOUND_BY_UCX: "topology.cpp: Found 0 HCAs; No available RNIC",
    Signature.MOONCAKE_TORCH_MISMATCH: (
        "ImportError: mooncake.pg was not built against torch==2.9.1; reinstall a matching wheel"
    ),
    Signature.MOONCAKE_BACKEND_UNUSABLE: (
        "RuntimeError: the mooncake torch ProcessGroup backend is not usable in this image"
    ),
    Signature.LIBCUDART_MISSING: (
        "ImportError: libcudart.so.12: cannot open shared object file: No such file or directory"
    ),
    Signature.MEMORY_REGISTRATION: (
        "rdma_context.cpp: Failed to register memory 0x7f3c40000000: Bad address [14]"
    ),
    Signature.TRANSPORT_RETRY: (
        "RC_MLX5 transport retry counter exceeded on mlx5_0:1/IB; "
        "status IBV_WC_RETRY_EXC_ERR, peer unreachable"
    ),
    Signature.NIXL_BACKEND: "nixl_cu12._bindings.nixlBackendError: NIXL_ERR_BACKEND",
    Signature.RANK_OUT_OF_RANGE: "RuntimeError: rank out of valid range [0, 8)",
    Signature.DP_SIZE_EXCEEDS_WORLD: "AssertionError: dp_size exceeds WORLD size",
    Signature.WORKER_PORTS: (
        "RuntimeError: Failed to receive worker ports from node 0 within timeout"
    ),
    Signature.CANNOT_RESOLVE_HOST: "ValueError: Cannot resolve host: leader.invalid",
    Signature.ILLEGAL_MEMORY_ACCESS: (
        "torch.AcceleratorError: CUDA error: an illegal memory access was encountered"
    ),
    Signature.MODEL_NOT_FOUND: (
        "OSError: the model path is neither a local folder nor a model identifier that is listed"
    ),
}
