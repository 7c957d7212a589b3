"""What is done to a good group, and what the API server then says of which field."""

from typing import Any

from tests.api.specimens import ENGINE_CONTAINER, LABELS, SIDECAR, Absent

LONG_NAME = "a" * 45
"""One character more than fits the names that are made from it."""

REFUSED: list[tuple[dict[str, Any], str, str]] = [
    # sizes
    (
        {"spec__replicas": 4},
        "spec.replicas",
        "Invalid value: replicas 4 would need EP size 10 (leader.ranks 4 + 3 x joiner.ranks 2),"
        " more than maxEPSize 8: lower replicas to at most 3, or raise maxEPSize to at least 10",
    ),
    (
        {"spec__maxEPSize": 4, "spec__replicas": 1},
        "spec.maxEPSize",
        "leaves no room for a joiner: leader.ranks 4 + joiner.ranks 2 = 6: raise maxEPSize to at"
        " least 6",
    ),
    ({"spec__replicas": -1}, "spec.replicas", "greater than or equal to 0"),
    ({"spec__leader__ranks": 0}, "spec.leader.ranks", "greater than or equal to 1"),
    ({"spec__leader__ranks": 1}, "spec.leader.ranks", "set leader.ranks to at least 2"),
    ({"spec__joiner__ranks": 0}, "spec.joiner.ranks", "greater than or equal to 1"),
    ({"spec__maxEPSize": 5000}, "spec.maxEPSize", "less than or equal to 4096"),
    # shape
    ({"spec__replicas": "3"}, "spec.replicas", 'must be of type integer: "string"'),
    ({"spec__replicas": 2.5}, "spec.replicas", 'must be of type int32: "float64"'),
    ({"spec__replicas": True}, "spec.replicas", "must be of type int32"),
    ({"spec__replicas": 1e20}, "spec.replicas", 'must be of type int32: "float64"'),
    ({"spec__replicas": 2**40}, "spec.replicas", "less than or equal to 1024"),
    ({"spec__model": Absent}, "spec.model", "Required value"),
    ({"spec__model": None}, "spec.model", "Required value"),
    ({"spec": Absent}, "spec", "Required value"),
    ({"spec": []}, "spec", 'must be of type object: "array"'),
    ({"spec__model__path": ""}, "spec.model.path", "at least 1 chars long"),
    ({"spec__model__path": "é" * 1025}, "spec.model.path", "Too long: may not be more than 1024"),
    ({"spec__model__trustRemoteCode": "yes"}, "spec.model.trustRemoteCode", "of type boolean"),
    ({"spec__engine__args": ["-v"] * 129}, "spec.engine.args", "must have at most 128 items"),
    ({"spec__engine__args": [3, None]}, "spec.engine.args[1]", 'of type string: "null"'),
    ({"spec__engine__command": []}, "spec.engine.command", "should have at least 1 items"),
    # the name
    ({"metadata__name": LONG_NAME}, "metadata.name", "shorten the name to at most 44"),
    ({"metadata__name": "é" * 44}, "metadata.name", "must start with a letter"),
    ({"metadata__name": "4-models"}, "metadata.name", "must start with a letter"),
    ({"metadata__name": "a.b"}, "metadata.name", "hold only a-z, 0-9 and '-'"),
    ({"metadata__name": "Big"}, "metadata.name", "a lowercase RFC 1123 subdomain"),
    ({"metadata__name": Absent}, "metadata.name", "name or generateName is required"),
    # the engine
    ({"spec__model__path": "<your model>"}, "spec.model.path", "this is a placeholder"),
    ({"spec__model__path": "--help"}, "spec.model.path", "does not start with '-'"),
    ({"spec__engine__image": "CHANGE_ME"}, "spec.engine.image", "this is a placeholder"),
    ({"spec__engine__image": "a/b:${TAG}"}, "spec.engine.image", "this is a placeholder"),
    ({"spec__engine__image": "a/b :v0.5.19"}, "spec.engine.image", "REGISTRY/NAME:TAG"),
    ({"spec__engine__image": "a/b:latest"}, "spec.engine.version", "set version to the one in"),
    ({"spec__engine__version": "0.4.1"}, "spec.engine.version", "use one of 0.5.19"),
    ({"spec__engine__port": 20003}, "spec.engine.port", "port 20003 is one of the rendezvous"),
    ({"spec__engine__port": 19780}, "spec.engine.port", "and 20013 is one of the rendezvous"),
    ({"spec__engine__port": 65400}, "spec.engine.port", "less than or equal to 65302"),
    (
        {"spec__engine__adminKeySecretRef": {"name": "Keys", "key": "a b"}},
        "spec.engine.adminKeySecretRef.key",
        "a key within a Secret",
    ),
    ({"spec__engine__command": ["bash", "-c", "x"]}, "spec.engine.command", "a shell would not"),
    # flags that the operator owns
    *(
        ({"spec__engine__args": [flag]}, "spec.engine.args[0]", why)
        for flag, why in {
            "--tp": "this flag is set from leader.ranks and joiner.ranks",
            "--tensor-parallel-size=8": "this flag is set from leader.ranks and joiner.ranks",
            "--dist-init": "this flag is set by the operator",
            "--elastic-ep-join-mode=recover": "this flag is set from leader, joiner",
            "--disable-cuda-graph": "a group that can grow must launch without CUDA graphs",
            "--cuda-graph-backend-decode": "must launch without CUDA graphs",
            "--config=/etc/engine.yaml": "this flag could bring in any other flag",
            "--admin-api-key=secret": "this flag is set from engine.adminKeySecretRef",
            "--mooncake-ib-device": "this flag is set from rdma.devices",
            "--": "this flag would make values of the flags after it",
            "--$(FLAG)": "a variable could become any flag",
            "$(FLAGS)": "a variable could become any flag",
            "--chunked-prefill-size 4096": "write a flag and its value as two items",
        }.items()
    ),
    (
        {"spec__engine__command": ["python3", "-m", "sglang.launch_server", "--tp=4"]},
        "spec.engine.command[3]",
        "this flag is set from leader.ranks and joiner.ranks",
    ),
    # RDMA
    *(
        ({"spec__rdma__devices": [name]}, "spec.rdma.devices[0]", "this is a placeholder")
        for name in ("SET-ME", "SET_ME", "change-me", "CHANGEME", "TODO", "<device>", "mlx5_xxx")
    ),
    ({"spec__rdma__devices": ["mlx5_0,mlx5_1"]}, "spec.rdma.devices[0]", "one device name per"),
    ({"spec__rdma__devices": ["a", "b", "a", "a"]}, "spec.rdma.devices[2]", 'Duplicate value: "a"'),
    ({"spec__rdma__resource": "rdma/SET-ME"}, "spec.rdma.resource", "this is a placeholder"),
    ({"spec__rdma__resource": "rdma"}, "spec.rdma.resource", "DOMAIN/NAME"),
    ({"spec__rdma__resource": "nvidia.com/gpu"}, "spec.rdma.resource", "not an RDMA resource"),
    # placement
    ({"spec__placement__within": "SET-ME"}, "spec.placement.within", "this is a placeholder"),
    ({"spec__placement__within": "a b"}, "spec.placement.within", "NAME or DOMAIN/NAME"),
    ({"spec__placement": {"required": True}}, "spec.placement.within", "Required value"),
    (
        {
            "spec__placement": {"within": "kubernetes.io/hostname", "required": True},
            "spec__template__spec__hostNetwork": True,
        },
        "spec.placement",
        "choose a domain of several nodes",
    ),
    # labels and annotations
    (
        {LABELS: {"kueue.x-k8s.io/pod-group-name": "x"}},
        "spec.template.metadata.labels",
        "kueue.x-k8s.io/queue-name admits each pod as it comes",
    ),
    ({LABELS: {"elasticep.dev/role": "leader"}}, "spec.template.metadata.labels", "the operator"),
    ({LABELS: {"app.kubernetes.io/name": "x"}}, "spec.template.metadata.labels", "operator sets"),
    ({LABELS: {"app.kubernetes.io/instance": "x"}}, "spec.template.metadata.labels", "Argo CD"),
    ({LABELS: {"kubernetes.io/x": "y"}}, "spec.template.metadata.labels", "Kubernetes' own"),
    ({LABELS: {"a b": "c"}}, "spec.template.metadata.labels", "NAME or DOMAIN/NAME"),
    ({LABELS: {"a": "-"}}, "spec.template.metadata.labels[a]", "a label's value"),
    ({LABELS: {"a": 3}}, "spec.template.metadata.labels.a", "of type string"),
    ({LABELS: {"a": "x" * 64}}, "spec.template.metadata.labels.a", "Too long"),
    (
        {LABELS: {f"key-{number}": "" for number in range(65)}},
        "spec.template.metadata.labels",
        "Too many: 65: must have at most 64 items",
    ),
    # the pod template
    *(
        ({f"spec__template__spec__{field}": value}, f"spec.template.spec.{field}", "Forbidden")
        for field, value in {
            "nodeName": "gpu-node-1",
            "hostname": "me",
            "subdomain": "us",
            "restartPolicy": "Never",
            "activeDeadlineSeconds": 60,
        }.items()
    ),
    *(
        ({ENGINE_CONTAINER + field: value}, f"spec.template.spec.containers[0].{field}", "Forbid")
        for field, value in {
            "image": "a/b:c",
            "command": ["sh"],
            "args": ["--tp=4"],
            "ports": [{"containerPort": 1}],
            "livenessProbe": {},
            "startupProbe": {},
            "env": [{"name": "POD_IP", "value": "1.2.3.4"}],
        }.items()
    ),
    (
        {ENGINE_CONTAINER + "resources__limits": {"nvidia.com/gpu": 1}},
        "spec.template.spec.containers[0].resources",
        "remove it from limits, and set spec.leader.ranks and spec.joiner.ranks",
    ),
    (
        {ENGINE_CONTAINER + "resources__requests": {"rdma/hca_shared_devices_a": 1}},
        "spec.template.spec.containers",
        "set spec.rdma.count",
    ),
    (
        {ENGINE_CONTAINER + "resources__limits": {"nvidia.com/gpu": "x"}},
        "spec.template.spec.containers[0].resources.limits.nvidia.com/gpu",
        "should match",
    ),
    (
        {ENGINE_CONTAINER + "resources__limits": {"cpu": "8\n"}},
        "spec.template.spec.containers[0].resources.limits.cpu",
        "should match",
    ),
    (
        {ENGINE_CONTAINER + "resources__limits": {"cpu": 1.5}},
        "spec.template.spec.containers[0].resources.limits.cpu",
        'must be of type integer,string: "number"',
    ),
    (
        {"spec__template__spec__containers": [{"name": "a"}]},
        "spec.template.spec.containers[0].image",
        "Required value: a container beside the engine needs an image",
    ),
    (
        {"spec__template__spec__containers": [SIDECAR, SIDECAR]},
        "spec.template.spec.containers[1]",
        'Duplicate value: {"name":"sidecar"}',
    ),
    (
        {"spec__template__spec__containers": ["engine"]},
        "spec.template.spec.containers[0]",
        "must be an object for an array of list-type map",
    ),
    (
        {"spec__template__spec__initContainers": [{"name": "engine", "image": "SET-ME"}]},
        "spec.template.spec.initContainers[0].name",
        "choose another",
    ),
    (
        {"spec__template__spec__volumes": [{"name": "shm", "emptyDir": {}}]},
        "spec.template.spec.volumes",
        "give yours another name",
    ),
    ({"spec__template__spec__tolerations": [3]}, "spec.template.spec.tolerations[0]", "object"),
]

TAKEN: list[dict[str, Any]] = [
    {},
    {"spec__replicas": 0},
    {"spec__replicas": 1},
    {"spec__replicas": None},
    {"spec__rdma": Absent},
    {"spec__joiner__ranks": 1, "spec__maxEPSize": 5, "spec__replicas": 2},
    {"spec__joiner__ranks": 3, "spec__replicas": 2},
    {"spec__engine__image": "sglang:v0.5.23-cu128@sha256:" + "0" * 64},
    {"spec__engine__image": "localhost:5000/a/b", "spec__engine__version": "0.5.21"},
    {"spec__engine__args": ["--mem-fraction-static", "0.85", "--served-model-name=$(NAME)"]},
    {"spec__engine__port": 20007},
    {"spec__placement": {"within": "example.com/rail"}},
    {"spec__placement": {"within": "kubernetes.io/hostname", "required": True}},
    {
        "spec__placement": {"within": "rack", "required": True},
        "spec__template__spec__hostNetwork": True,
    },
    {LABELS: {"kueue.x-k8s.io/queue-name": "gpus", "team": ""}},
    {ENGINE_CONTAINER + "resources__limits": {"cpu": 8, "memory": "80Gi", "x.com/y": "1e3"}},
    {ENGINE_CONTAINER + "env": [{"name": "NCCL_DEBUG", "value": "INFO"}]},
    {ENGINE_CONTAINER + "readinessProbe": {"httpGet": {"path": "/", "port": 1}}},
    {"spec__template__spec__containers": [SIDECAR]},
    {"spec__template__spec__nodeSelector": {"nvidia.com/gpu.present": "true"}},
    {"spec__template__spec__shareProcessNamespace": True},
    {
        "spec__template__spec__volumes": [{"name": "shm", "hostPath": {"path": "/dev/shm"}}],
        ENGINE_CONTAINER + "volumeMounts": [{"name": "shm", "mountPath": "/dev/shm"}],
    },
]
