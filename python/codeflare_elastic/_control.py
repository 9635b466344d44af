"""Where this worker is, and what its agent wants of it. No torch, no I/O; shared by three threads under one condition.

The main thread trains and asks `boundary` between two steps. The reader hands in messages. The waker frees a main thread that a
broken group holds.
"""

import threading
from collections import deque

GO, REJOIN, END = "go", "rejoin", "end"
_VOTE_SECONDS_MAX = 3.0


class Control:
    def __init__(self):
        self.changed = threading.Condition()
        self.orders = deque()  # notice, host and round of the newest generation, not yet followed
        self.newest = 0  # generation of the newest notice
        self.group = 0  # generation of the group that is formed or being formed; 0: none
        self.forming = False
        self.world = 1
        self.step = 0  # committed
        self.in_step = False
        self.dirty = False  # parameters changed, the step is not committed
        self.broken = False  # the group is of no use any more
        self.voted = 0  # generation of the notice that this worker has voted on
        self.leave_at = None  # the step after which all members leave
        self.idle = False  # the main thread waits for an order
        self.save_wanted = False
        self.finished = False
        self.closed = False  # the agent is gone

    # -- the reader

    def receive(self, message):
        """The vote that the group needs before members can leave together, or None."""
        kind = message["type"]
        with self.changed:
            vote = None
            if kind == "save":
                self.save_wanted = True
            elif kind == "lost":
                if self.group and message["generation"] >= self.group:
                    self.broken = True
            elif kind == "notice":
                vote = self._notice(message)
            elif message["generation"] >= self.newest:
                self.orders.append(message)
            self.changed.notify_all()
            return vote

    def _notice(self, message):
        if message["generation"] <= self.newest:
            return None
        self.newest = message["generation"]
        self.orders = deque([message])
        self.leave_at = None
        if not self.group:
            return None
        if not self.forming:
            return self._vote()
        if message["reason"] == "Replace":
            self.broken = True  # somebody who should be in the new group is gone
        return None

    def _vote(self):
        """(generation, step, patience in seconds). A member in the middle of a step needs all others to complete that step."""
        if self.world == 1:
            self.leave_at = self.step
        elif not self.broken and self.voted != self.newest:
            self.voted = self.newest
            return self.newest, self.step + self.in_step, 0.3 if self.orders[0]["reason"] == "Replace" else 2.0
        return None

    def late_vote(self):
        """For a notice that came in while the group was formed."""
        with self.changed:
            return self._vote() if self.orders and self.leave_at is None else None

    def give_up_forming(self, generation):
        """A notice of this generation came in while the group was formed, and some members may have followed it."""
        with self.changed:
            if self.forming and self.newest == generation:
                self.broken = True
                self.changed.notify_all()

    def agreed(self, generation, step):
        """All members leave after `step`; None: they could not agree, so the group breaks."""
        with self.changed:
            if generation == self.newest and self.group:
                if step is None:
                    self.broken = True
                else:
                    self.leave_at = step
            self.changed.notify_all()

    def close(self):
        with self.changed:
            self.closed = True
            self.changed.notify_all()

    # -- the main thread

    def boundary(self):
        """GO: a step has begun. REJOIN: leave the group and follow orders. END: nobody waits for this worker."""
        with self.changed:
            while True:
                if self.closed:
                    return END
                if self.broken:
                    return REJOIN
                if not self.orders:
                    break
                if self.leave_at is None:
                    # The vote has a time limit, but a frozen host of the store holds up even that.
                    if not self.changed.wait_for(lambda: self.leave_at is not None or self.broken or self.closed, _VOTE_SECONDS_MAX):
                        self.broken = True
                    continue
                if self.step >= self.leave_at:
                    return REJOIN
                break
            self.in_step = True
            return GO

    def fail(self):
        with self.changed:
            self.broken = True
            self.changed.notify_all()

    def commit(self, step):
        with self.changed:
            self.step, self.in_step, self.dirty = step, False, False

    def left(self):
        with self.changed:
            self.group, self.forming, self.broken, self.in_step, self.dirty, self.leave_at = 0, False, False, False, False, None
            self.changed.notify_all()

    def begin_forming(self, generation, world):
        with self.changed:
            if generation < self.newest:
                return False
            self.group, self.forming, self.world, self.broken = generation, True, world, False
            return True

    def formed(self):
        """False when the group broke meanwhile."""
        with self.changed:
            self.forming = False
            self.changed.notify_all()
            return not self.broken

    def next_order(self, timeout_seconds):
        """The next order; None when the agent is gone or silent for too long."""
        with self.changed:
            self.idle = True
            self.changed.notify_all()
            self.changed.wait_for(lambda: self.orders or self.closed, timeout_seconds)
            self.idle = False
            return self.orders.popleft() if self.orders else None

    def take_save(self):
        if not self.save_wanted:
            return False
        with self.changed:
            self.save_wanted = False
            return True

    # -- the waker

    def stuck(self):
        """The group is broken and the main thread has not left it, or it cannot be formed because members have moved on."""
        return (self.broken or self.closed) and bool(self.group) and not self.idle
