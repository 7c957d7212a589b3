"""Ends everything of a testbed, however far it had come and whatever became of its driver."""

from pathlib import Path

from testbed import daemons
from testbed.cgroups import our_cgroups, remove_cgroups
from testbed.commands import run
from testbed.mounts import NETNS, mount_points
from testbed.network import our_links, our_namespaces, remove_network
from testbed.places import Places
from testbed.record import read_record


def is_anything_left(places: Places) -> bool:
    """A process, a network, a control group or state of a testbed is there."""
    return bool(
        places.state.exists()
        or daemons.find(state=places.state)
        or our_links()
        or our_namespaces()
        or our_cgroups()
    )


def tear_down(places: Places) -> None:
    """Nothing of the testbed is left but the cache, and this machine is as it was.

    Raises TestbedError when something does not go.
    """
    record = read_record(places.record)
    ancestors = daemons.ancestors()
    daemons.end(lambda process: process.pid not in ancestors, state=places.state)
    remove_network()
    remove_cgroups()
    _unmount_below(places.state)
    if record is not None:
        record.restore_settings()
        if not record.netns_was_mounted:
            _unmount_netns()
    # Last: the record goes with it, and until then a second attempt can do all of this again.
    # By rm, which is many times quicker with the hundred thousand files of the nodes' images.
    run(["rm", "--recursive", "--force", "--one-file-system", places.state])


def _unmount_below(directory: Path) -> None:
    """Nodes' mounts go with the nodes; this is for what somebody mounted there by hand."""
    for point in reversed(mount_points()):
        if directory in point.parents:
            run(["umount", "--lazy", point])


def _unmount_netns() -> None:
    """`ip netns` mounts its directory onto itself; it stays if others use it by now."""
    if NETNS in mount_points() and not any(NETNS.iterdir()):
        run(["umount", NETNS])
