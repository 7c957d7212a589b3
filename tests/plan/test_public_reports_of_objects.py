"""What other operators got wrong in public about labels, counts and hashes, told to this planner.

Each docstring names the reports.
"""

from tests.plan import states, world

from elasticep.api import names
from elasticep.plan.actions import CreatePod
from elasticep.plan.planner import plan
from elasticep.plan.template_hash import template_hash


def test_pods_of_an_earlier_incarnation_are_not_counted_as_replicas() -> None:
    """kubernetes PR#79035, aibrix#2780: surplus pods in the count make an autoscaler run away."""
    old = world.joiner(4, incarnation="earlier", serial=0)

    planned = plan(states.serving(pods=(world.leader(), old)))
    grown = plan(states.serving(8, 4, 6))

    assert (planned.status.replicas, planned.status.ready_replicas) == (1, 1)
    assert (grown.status.replicas, grown.status.ready_replicas) == (3, 3)
    assert grown.status.selector == (
        f"{names.LABEL_GROUP}=lite,{names.LABEL_INCARNATION}={world.INCARNATION}"
    )


def test_labels_of_the_template_are_on_every_pod_and_never_replace_our_own() -> None:
    """lws#385, #391, kuberay PR#2555, kueue#10965, PR#14138: queue labels kept, ours not lost."""
    theirs = {"kueue.x-k8s.io/queue-name": "gpus", names.LABEL_ROLE: "x", names.LABEL_GROUP: "y"}
    spec = world.spec(template={"metadata": {"labels": theirs}})
    leader = world.leader(template_hash=template_hash(spec))
    new = plan(world.snapshot(group=world.group(spec)))
    growing = plan(states.wanting(spec, states.serving(pods=(leader,))))

    for planned, role in ((new, "leader"), (growing, "joiner")):
        (labels,) = (
            a.manifest["metadata"]["labels"] for a in planned.actions if isinstance(a, CreatePod)
        )
        assert labels["kueue.x-k8s.io/queue-name"] == "gpus"
        assert (labels[names.LABEL_ROLE], labels[names.LABEL_GROUP]) == (role, "lite")


def test_environment_of_the_template_is_the_same_on_every_rank_and_no_node_is_chosen() -> None:
    """dynamo PR#8183; kubernetes#89007, #106419: a node's name passes the scheduler by."""
    env = {"name": "MC_GID_INDEX", "value": "3"}
    spec = world.spec(
        template={
            "spec": {"nodeName": "gpu-node-1", "containers": [{"name": "engine", "env": [env]}]}
        }
    )
    leader = world.leader(template_hash=template_hash(spec))
    new = plan(world.snapshot(group=world.group(spec)))
    growing = plan(states.wanting(spec, states.serving(pods=(leader,))))

    for planned in (new, growing):
        (pod,) = (a.manifest["spec"] for a in planned.actions if isinstance(a, CreatePod))
        assert env in pod["containers"][0]["env"]
        assert "nodeName" not in pod


def test_an_upgrade_of_the_operator_takes_no_pod_for_outdated() -> None:
    """lws#225, kuberay#2315, #558: the hash is of what the user wrote, and stays between releases.

    A change of this word restarts, or stalls, every group of every user.
    """
    assert template_hash(world.spec()) == "r2tvll"
    assert template_hash(world.spec(replicas=1, paused=True)) == template_hash(world.spec())
    assert template_hash(world.spec(template={})) == template_hash(world.spec())


def test_a_scale_is_not_told_as_a_change_of_template() -> None:
    """lws#400: the condition for a rollout turned on creation and on every scale."""
    for planned in (plan(world.snapshot()), plan(states.serving(4)), plan(states.serving(8, 4, 6))):
        assert planned.status.move is None
        assert planned.status.retiring == ()
        assert states.condition(planned.status, "ScalingDown") == ("False", "NotScalingDown")
