"""Replaces the executor's side of `skillcell` in a process that the executor did not start."""


class ToolCallError(RuntimeError):
    """A call that returned no value. `code` names the reason."""

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


class _Calls:
    def call(self, name, arguments):
        raise ToolCallError("tool.job-over", "Cannot make the call: a process that the program started has no tools.")

    async def call_async(self, name, arguments):
        self.call(name, arguments)


calls = _Calls()


def set_value(value):
    raise RuntimeError("Cannot set the value: a process that the program started has none.")


def read_skill_file(skill, path):
    raise RuntimeError("Cannot read a skill file: a process that the program started knows of no skills.")
