"""What a job's Python program may ask of skillcell."""

import _skillcell_bridge as _bridge

__all__ = ["call_tool", "read_skill_file", "set_value"]


def call_tool(name, arguments=None, **keywords):
    """Call a tool of the host and return its answer. Raises RuntimeError when the call is refused or fails."""
    return _bridge.call("tool", name, {**(arguments or {}), **keywords})


def read_skill_file(skill, path, encoding="utf-8"):
    """Read a file of one of the job's skills, as text, or as bytes when encoding is None."""
    data = _bridge.read_skill_file(skill, path)
    return data if encoding is None else data.decode(encoding)


def set_value(value):
    """Set the job's value: anything with a JSON form, at most 256 KiB of it."""
    _bridge.set_value(value)
