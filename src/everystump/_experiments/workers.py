"""Processes that work for another one, and end when it does, however it ends."""

from __future__ import annotations

import os
import threading
import time
from functools import cache

_PAUSE = 0.5  # seconds


@cache
def end_with(parent: int) -> None:
    """Watch, from now on, that this process is still the child of ``parent``, and end it if not.

    A process that is killed cannot end those that it started: they would work on for nobody.
    """
    if os.getpid() != parent:
        threading.Thread(target=_watch, args=(parent,), name="end_with", daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_PAUSE)
    os._exit(1)  # whatever the other threads are at
