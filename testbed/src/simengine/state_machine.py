"""What the leader of an elastic group knows and how it changes: pure, no clock, no I/O.

Two views are kept, as SGLang keeps them.
The *scheduler* holds the truth and moves only upon forward passes.
The HTTP front end shows a *mirror* of it, which learns of an accepted request, of a refusal and
of the outcome, and of nothing in between.
Read off SGLang 0.5.19 to 0.5.23: `srt/elastic_ep/elastic_ep.py`,
`srt/model_executor/model_runner.py` (`maybe_join_ep_ranks`), `srt/managers/tokenizer_manager.py`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from http import HTTPStatus

from simengine.faults import NativeShrink
from simengine.retirement import NEXT_STEP, Retirement
from simengine.scale_protocol import (
    NOT_QUEUED,
    RECOVERY_IS_UNSUPPORTED,
    STILL_PENDING,
    Admission,
    Answer,
    Happened,
    Mirror,
    Phase,
    Shape,
)


@dataclass
class ElasticGroup:
    """One life of a leader and the ranks it serves with.

    `alive` are the ranks whose processes answer, `waiting` those which ask to be admitted.
    `registrations` maps a rank offset to the target its joiner announced; entries stay after the
    joiner is gone, until another one overwrites them.
    """

    shape: Shape
    native_shrink: NativeShrink | None = None
    effective: int = 0
    pending: int | None = None
    pending_since: float = 0.0
    phase: Phase = Phase.IDLE
    last_error: str | None = None
    has_scaled: bool = False
    registrations: dict[int, int] = field(default_factory=dict)
    alive: set[int] = field(default_factory=set)
    waiting: set[int] = field(default_factory=set)
    retirement: Retirement = field(default_factory=Retirement)
    mirror: Mirror = field(init=False)

    def __post_init__(self) -> None:
        """Serve with the launch ranks, all of them alive."""
        self.effective = self.shape.launch_size
        self.alive = set(range(self.effective))
        self.mirror = Mirror(effective=self.effective)

    @property
    def lost(self) -> list[int]:
        """Ranks that the group cannot do without but whose processes are gone."""
        missing = set(range(self.effective)) - self.alive
        return sorted(missing | self.retirement.gone_too_early)

    @property
    def open_ranks(self) -> int:
        """How many ranks take new requests: those that are to go take none."""
        return min(self.effective, self.pending or self.effective)

    @property
    def is_scaling(self) -> bool:
        """The scheduler's own view: an operation is pending, or a lost rank may come back."""
        if self.phase is Phase.RECOVERY_UNSUPPORTED:
            return False
        return self.pending is not None or bool(self.lost)

    def request_scale(self, target: int, *, now: float) -> Answer:
        """Answer POST /scale_elastic_ep; an accepted request starts the timeout clock."""
        if self.mirror.pending is not None:
            return Answer(status=HTTPStatus.CONFLICT, body={"error": STILL_PENDING})
        refusal = self._refuse(target)
        if refusal is not None:
            return refusal
        self.pending, self.pending_since, self.last_error = target, now, None
        shrinks = target < self.effective
        self.phase = Phase.DRAINING if shrinks else Phase.WAITING_FOR_COHORT
        self.retirement.safe.clear()
        self._reflect()
        return Answer(
            status=HTTPStatus.OK,
            body={
                "message": f"Scaling initiated from {self.effective} to {target}",
                "old_ep_size": self.effective,
                "new_ep_size": target,
            },
        )

    def _refuse(self, target: int) -> Answer | None:
        current, phase = self.effective, Phase.IDLE
        can_shrink = self.native_shrink is not None and not self.native_shrink.refused
        too_small = target == current or (target < current and not can_shrink)
        if too_small:
            message = (
                f"new_ep_size ({target}) must be greater than current "
                f"effective_ep_size ({current})."
            )
        elif target > self.shape.max_size:
            message = (
                f"new_ep_size ({target}) exceeds --max-ep-size ({self.shape.max_size}). "
                "Restart with a larger --max-ep-size."
            )
        elif self.is_scaling or self.retirement.parting:
            message, phase = STILL_PENDING, self.phase
        elif self.phase is Phase.RECOVERY_UNSUPPORTED:
            message, phase = NOT_QUEUED, self.phase
        else:
            return None
        # A refusal overwrites what the front end shows, the phase included.
        self.mirror.phase, self.mirror.last_error = phase, message
        return Answer(status=HTTPStatus.BAD_REQUEST, body={"error": message})

    def register(self, *, offset: int, target: int) -> None:
        """A joiner announces the size the group will have with it."""
        self.registrations[offset] = target

    def ranks_ready(self, ranks: Iterable[int]) -> None:
        """These ranks are connected to every peer and wait to be admitted."""
        self.waiting.update(ranks)

    def ranks_gone(self, ranks: Iterable[int]) -> None:
        """The processes of these ranks no longer answer."""
        gone = set(ranks)
        self.waiting -= gone
        self.alive -= gone
        self.retirement.ranks_gone(gone)

    def forward_pass(
        self, *, now: float, busy_ranks: Collection[int] = ()
    ) -> Admission | Happened | None:
        """Take the one step that a forward pass allows; nothing else moves the group.

        `busy_ranks` have requests; those that are to go finish theirs first.
        """
        if self.phase is Phase.WARMING_UP:
            self.phase = Phase.SERVING_EXPANDED
            self._reflect()
        if not self.is_scaling:
            return None
        if self.pending is None:
            return self._recover()
        if now - self.pending_since > self.shape.scale_timeout:
            return self._fail(f"Timed out waiting for ranks to join target EP size {self.pending}")
        if self.pending < self.effective:
            return self._retire(busy_ranks)
        return self._admit(self.pending)

    def _admit(self, pending: int) -> Admission | Happened | None:
        if self.phase is Phase.WAITING_FOR_COHORT:
            target = self.registrations.get(self.effective)
            if target is None:
                return None
            if target != pending:
                return self._fail(
                    f"Requested target EP size {pending} does not match "
                    f"joining cohort target {target}"
                )
        self.phase = Phase.JOINING
        if not self.waiting.issuperset(range(self.effective, pending)):
            return None
        self.phase = Phase.CONFIGURING_DATA_PLANE
        return Admission(offset=self.effective, target=pending)

    def mark_syncing(self) -> None:
        """The data plane is set up; the old and the new ranks meet at a barrier."""
        self.phase = Phase.SYNCING_NEW_WORLD

    def commit(self, admission: Admission) -> Happened:
        """The barrier is passed: the group serves with the admitted ranks."""
        joined = range(admission.offset, admission.target)
        self.alive |= self.waiting.intersection(joined)
        self.waiting.difference_update(joined)
        self._settle(admission.target)
        self.phase = Phase.WARMING_UP if self.native_shrink else Phase.SERVING_EXPANDED
        self._reflect()
        return Happened(
            message=f"Scale completed: old_ep_size={admission.offset} "
            f"new_ep_size={admission.target} joined_ranks={list(joined)}"
        )

    def _retire(self, busy_ranks: Collection[int]) -> Happened | None:
        if self.phase is Phase.DRAINING and max(busy_ranks, default=0) >= self.open_ranks:
            return None
        following = NEXT_STEP.get(self.phase)
        if following is not None:
            self.phase = following
            self._reflect()
            return None
        old, new = self.effective, self.pending or self.effective
        self._settle(new)
        self.retirement.part(range(new, old))
        self.phase = Phase.SERVING_SHRUNK
        self._reflect()
        return Happened(message=f"Scale completed: old_ep_size={old} new_ep_size={new}")

    def _settle(self, size: int) -> None:
        self.effective, self.pending = size, None
        self.has_scaled, self.last_error = True, None

    def _recover(self) -> Happened | None:
        if self.has_scaled:
            self.phase, self.last_error = Phase.RECOVERY_UNSUPPORTED, RECOVERY_IS_UNSUPPORTED
            return self._report_failure(RECOVERY_IS_UNSUPPORTED)
        lost = self.lost
        if not self.waiting.issuperset(lost):
            return None
        self.alive.update(lost)
        self.waiting.difference_update(lost)
        return Happened(message=f"recover ranks {lost} done")

    def _fail(self, error: str) -> Happened:
        self.pending, self.phase, self.last_error = None, Phase.FAILED, error
        return self._report_failure(error)

    def _report_failure(self, error: str) -> Happened:
        # The front end knows one word for every failure, a rank lost after growth included.
        self.mirror.pending, self.mirror.phase = None, Phase.FAILED
        self.mirror.last_error = error
        return Happened(message=error, error=True)

    def _reflect(self) -> None:
        self.mirror = Mirror(effective=self.effective, pending=self.pending, phase=self.phase)

    def status(self) -> dict[str, object]:
        """The body of GET /is_scaling_elastic_ep."""
        body = self.mirror.report()
        if self.native_shrink is not None and self.native_shrink.shown:
            body["safe_to_terminate_ranks"] = sorted(self.retirement.safe)
        return body

    def internal_state(self) -> dict[str, object]:
        """The scheduler's own view, as GET /server_info shows it."""
        return {
            "is_scaling_elastic_ep": self.is_scaling,
            "effective_ep_size": self.effective,
            "pending_ep_size": self.pending,
            "scale_phase": self.phase,
            "elastic_ep_last_error": self.last_error,
        }
