"""What the driver writes down about a cluster, before it does it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path

from testbed.images import BuiltImage
from testbed.mounts import NETNS, mount_points

# The kubelet sets these, for the whole machine.
_SETTINGS = (
    "kernel/keys/root_maxbytes",
    "kernel/keys/root_maxkeys",
    "kernel/panic",
    "kernel/panic_on_oops",
    "vm/overcommit_memory",
    "vm/panic_on_oom",
)
_PROC_SYS = Path("/proc/sys")


@dataclass(frozen=True, kw_only=True)
class Record:
    """One cluster, coming up or up, and what this machine was like before it."""

    nodes: int
    engine_versions: Sequence[str] = ()
    complete: bool = False
    images: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)
    netns_was_mounted: bool = True

    @classmethod
    def of_this_machine(cls, *, nodes: int, engine_versions: Sequence[str]) -> "Record":
        """A cluster that is about to come up; without engine versions it has no resolver."""
        return cls(
            nodes=nodes,
            engine_versions=engine_versions,
            settings={
                name: (_PROC_SYS / name).read_text("utf-8").strip()
                for name in _SETTINGS
                if (_PROC_SYS / name).exists()
            },
            netns_was_mounted=NETNS in mount_points(),
        )

    def with_images(self, images: Sequence[BuiltImage]) -> "Record":
        """The same, with these images on the nodes."""
        return replace(
            self, images=dict(self.images) | {each.reference: each.key for each in images}
        )

    def write(self, path: Path) -> None:
        """On disk, whole or not at all."""
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_suffix(".unfinished")
        unfinished.write_text(json.dumps(asdict(self), indent=2), "utf-8")
        unfinished.replace(path)

    def restore_settings(self) -> None:
        """This machine's settings are what they were."""
        for name, value in self.settings.items():
            setting = _PROC_SYS / name
            if setting.read_text("utf-8").strip() != value:
                setting.write_text(value, "utf-8")


def read_record(path: Path) -> Record | None:
    """The record of the cluster that is up or coming up; None when there is none."""
    try:
        found = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return None
    # One that an older driver wrote has to be enough to take its cluster down.
    known = {each.name for each in fields(Record)}
    return Record(**{name: value for name, value in found.items() if name in known})
