"""The memory that is available to this process, also in a container."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import NamedTuple

_MEMINFO = Path("/proc/meminfo")
# The control groups of this process, and where their files are.
_MEMBERSHIP, _CGROUPS = Path("/proc/self/cgroup"), Path("/sys/fs/cgroup")


class _CgroupFiles(NamedTuple):
    """Names of the files of a control group with memory limits."""

    limit: str
    usage: str
    cache: str  # the entry of memory.stat that can be dropped


_V1 = _CgroupFiles("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
_V2 = _CgroupFiles("memory.max", "memory.current", "inactive_file")


def available_memory() -> int:
    """Return the bytes of memory that new arrays can use: those of the system or the container."""
    return min([_system_memory(), *_cgroup_memory()])


def _system_memory() -> int:
    try:
        return 1024 * _read_entry(_MEMINFO, "MemAvailable:")
    except (OSError, KeyError):
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2


def _cgroup_memory() -> Iterator[int]:
    """Yield the bytes that are left in each control group of this process with a limit."""
    for folder, files in _cgroup_folders():
        try:
            limit = int((folder / files.limit).read_text())
            usage = int((folder / files.usage).read_text())
            cache = _read_entry(folder / "memory.stat", files.cache)
        except (OSError, ValueError, KeyError):  # no such group, or "max" for no limit
            continue
        yield max(0, limit - usage + cache)


def _cgroup_folders() -> Iterator[tuple[Path, _CgroupFiles]]:
    """Yield the folders of the control groups of this process, whose limits all apply.

    In a container, the path of its group may be the one outside, while its files are at the root;
    folders that do not exist are included.
    """
    try:
        lines = _MEMBERSHIP.read_text().splitlines()
    except OSError:
        return
    for line in lines:
        number, controllers, path = line.split(":", 2)
        if number == "0":
            root, files = _CGROUPS, _V2
        elif "memory" in controllers.split(","):
            root, files = _CGROUPS / "memory", _V1
        else:
            continue
        group = PurePosixPath(path.lstrip("/"))
        for folder in (group, *group.parents):
            yield root / folder, files


def _read_entry(path: Path, name: str) -> int:
    """Return the first number after a name that starts a line."""
    for line in path.read_text().splitlines():
        words = line.split()
        if words and words[0] == name:
            return int(words[1])
    raise KeyError(name)
