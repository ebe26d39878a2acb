"""The available memory: that of the system, or of the container."""

import pytest

from everystump import _memory
from everystump._memory import available_memory

V1 = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
V2 = ("memory.max", "memory.current", "inactive_file")


@pytest.fixture
def system(tmp_path, monkeypatch):
    """A system with 1 MB of available memory and no control groups."""
    (tmp_path / "meminfo").write_text("MemTotal: 4000 kB\nMemAvailable:    1000 kB\n")
    monkeypatch.setattr(_memory, "_MEMINFO", tmp_path / "meminfo")
    monkeypatch.setattr(_memory, "_MEMBERSHIP", tmp_path / "membership")
    monkeypatch.setattr(_memory, "_CGROUPS", tmp_path / "cgroup")
    return tmp_path


def write_group(folder, names, limit, usage, cache):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / names[0]).write_text(f"{limit}\n")
    (folder / names[1]).write_text(f"{usage}\n")
    (folder / "memory.stat").write_text(f"anon 7\n{names[2]} {cache}\n")


def test_this_system():
    assert 1e6 < available_memory() < 1e15


def test_without_control_groups(system):
    assert available_memory() == 1_024_000
    (system / "meminfo").unlink()
    assert 1e6 < available_memory() < 1e15


@pytest.mark.parametrize(
    ("line", "root", "names"), [("0::{}", "", V2), ("5:cpu,memory:{}", "memory", V1)]
)
def test_limits_of_containers(system, line, root, names):
    (system / "membership").write_text("3:pids:/other\n" + line.format("/outer/inner") + "\n")
    root = system / "cgroup" / root
    write_group(root / "outer" / "inner", names, "max" if names is V2 else 2**63 - 4096, 500, 100)
    assert available_memory() == 1_024_000
    write_group(root / "outer", names, 9000, 5000, 1000)
    assert available_memory() == 5000  # the cache can be dropped
    write_group(root / "outer" / "inner", names, 3000, 500, 100)
    assert available_memory() == 2600
    write_group(root, names, 100, 500, 0)  # as in a container that does not know its path
    assert available_memory() == 0


def test_files_that_cannot_be_read_are_ignored(system):
    (system / "membership").write_text("0::/\n")
    write_group(system / "cgroup", V2, 10, 5, 0)
    (system / "cgroup" / "memory.stat").write_text("anon 7\n")
    assert available_memory() == 1_024_000
