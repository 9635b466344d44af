"""The thread that frees a main thread which a broken group holds, and replaces the process when that fails."""

import faulthandler
import os
import signal
import threading
import time

from ._log import log

_REPEAT_SECONDS = 0.25
_LEAST_SECONDS = 5.0


class Waker:
    """`rescue` writes the last committed state; it may raise."""

    def __init__(self, control, group_of, step_seconds, rescue):
        self._control, self._group_of, self._step_seconds, self._rescue = control, group_of, step_seconds, rescue
        self._thread = threading.Thread(target=self._run, name="lattice-wake", daemon=True)

    def start(self):
        self._thread.start()

    def _run(self):
        control = self._control
        while True:
            with control.changed:
                control.changed.wait_for(control.stuck)
            began, generation = time.monotonic(), control.group
            while control.stuck() and control.group == generation:
                group = self._group_of()
                if group is not None:
                    group.wake()
                if self._gives_up(time.monotonic() - began):
                    self._replace()
                with control.changed:
                    control.changed.wait_for(lambda: not control.stuck(), _REPEAT_SECONDS)

    def _gives_up(self, seconds):
        """Only after the agent has given notice: it will form a group without this process. Code of the user between two steps may take half of the grace."""
        control = self._control
        notice = control.orders[0] if control.orders else None
        if notice is None or notice["type"] != "notice":
            return control.closed and seconds > 2 * _LEAST_SECONDS
        half = notice.get("graceSeconds", 30) / 2
        if control.in_step or control.forming:
            return seconds > min(max(_LEAST_SECONDS, 5 * self._step_seconds()), max(half, 1.0))
        return seconds > max(half, 1.0)

    def _replace(self):
        control = self._control
        log(f"the main thread does not leave the group of generation {control.group}; replacing this process")
        faulthandler.dump_traceback()
        try:
            if not control.dirty:
                self._rescue()
        except Exception as error:  # whatever it is, the process has to go
            log(f"step {control.step} was not saved: {error}")
        # Not an exit code: those are the program's own.
        os.kill(os.getpid(), signal.SIGKILL)
