"""The module `skillcell.skills`: base classes for providers of skills."""

import inspect

__all__ = ["BaseTool", "SkillToolContext", "SkillToolProvider", "tool"]


class SkillToolContext:
    """The context of a tool: the ids of the job and of the skill, and the skill's `config` of the tool."""

    def __init__(self, job, skill, config):
        self.job = self.task_id = job
        self.skill = self.skill_name = skill
        self.config = config
        # Names that other hosts of such providers have; a sandbox has neither subtasks nor a way to emit.
        self.subtask_id = None
        self.user_id = None
        self.ws_emitter = None


class SkillToolProvider:
    """Base class of providers."""

    @property
    def provider_name(self):
        """Unique name of the provider."""
        raise NotImplementedError("provider_name is missing")

    @property
    def supported_tools(self):
        """Names of the tools that the provider can make."""
        raise NotImplementedError("supported_tools is missing")

    def create_tool(self, tool_name, context, tool_config=None):
        """Makes one tool."""
        raise NotImplementedError("create_tool is missing")

    def validate_config(self, tool_config):
        """Whether the config of a tool can be used."""
        return True


class BaseTool:
    """Replaces the class of this name from `langchain_core.tools` if that package is not installed."""

    name = ""
    description = ""
    args_schema = None

    def __init__(self, **values):
        for name, value in values.items():
            setattr(self, name, value)

    def _run(self, **arguments):
        raise NotImplementedError("_run is missing")


class _FunctionTool(BaseTool):
    def _run(self, **arguments):
        return self.function(**arguments)


def tool(given=None, **_options):
    """Makes a tool from a function, with its name and its docstring."""

    def make(function, name=None):
        description = inspect.getdoc(function) or ""
        return _FunctionTool(name=name or function.__name__, description=description, function=function)

    if callable(given):
        return make(given)
    return lambda function: make(function, given)
