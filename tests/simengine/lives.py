"""Lives of a group's leader, without a process: made, joined and grown."""

from __future__ import annotations

from simengine.faults import NativeShrink
from simengine.scale_protocol import Admission, Shape
from simengine.state_machine import ElasticGroup

TIMEOUT = 600.0


def fresh(native_shrink: NativeShrink | None = None) -> ElasticGroup:
    shape = Shape(launch_size=4, max_size=8, scale_timeout=TIMEOUT)
    return ElasticGroup(shape, native_shrink=native_shrink)


def join(group: ElasticGroup, *, offset: int, target: int) -> None:
    group.register(offset=offset, target=target)
    group.ranks_ready(range(offset, target))


def grow(group: ElasticGroup, target: int) -> None:
    offset = group.effective
    join(group, offset=offset, target=target)
    assert group.request_scale(target, now=0).accepted
    step = group.forward_pass(now=1)
    assert step == Admission(offset=offset, target=target)
    group.commit(step)
