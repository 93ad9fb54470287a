"""The program of a sandbox for the code of one skill: loads the code in place, reports its tools, and makes the calls that the host
requests. Its argument is the specification as JSON."""

import asyncio
import importlib
import importlib.machinery
import importlib.metadata
import importlib.util
import inspect
import json
import os
import re
import sys
import threading
import types
import typing

import _skillcell_skills as skills
import skillcell

PACKAGE = "skill_code"
#: Modules that providers import for their base classes, by name. Installed modules have priority.
GIVEN = {
    "skillcell.skills": skills.__all__,
    "app.chat_shell.skills": ["SkillToolContext", "SkillToolProvider"],
    "app.chat_shell.skills.provider": ["SkillToolProvider"],
    "app.chat_shell.skills.context": ["SkillToolContext"],
    "langchain_core.tools": ["BaseTool", "tool"],
}


class MissingModules(Exception):
    pass


def give_modules():
    """Registers the modules that providers import, with their parent packages."""
    skillcell.skills = skills
    for path, names in GIVEN.items():
        top = path.partition(".")[0]
        if top != "skillcell" and getattr(sys.modules.get(top), "given", None) is None and is_there(top):
            continue
        parent = None
        for part in path.split("."):
            name = part if parent is None else f"{parent.__name__}.{part}"
            module = sys.modules.get(name)
            if module is None:
                module = types.ModuleType(name)
                module.given = True
                module.__path__ = []
                module.__spec__ = importlib.machinery.ModuleSpec(name, None, is_package=True)
                sys.modules[name] = module
                if parent is not None:
                    setattr(parent, part, module)
            parent = module
        for name in names:
            setattr(parent, name, getattr(skills, name))


def is_there(name):
    try:
        return name in sys.modules or importlib.util.find_spec(name) is not None
    except (ImportError, ValueError, AttributeError):
        return False


def is_installed(dependency):
    name = re.match(r"[^\s<>=~^!;\[]*", dependency.strip()).group()
    if is_there(name):
        return True
    try:
        importlib.metadata.distribution(name)
    except (importlib.metadata.PackageNotFoundError, ValueError):
        return False
    return True


def load_export(reference):
    path = reference["path"]
    base = path[: -len("/__init__.py")] if path.endswith("/__init__.py") else path[: -len(".py")]
    module = importlib.import_module(".".join([PACKAGE, *base.split("/")]))
    try:
        return getattr(module, reference["name"])
    except AttributeError:
        raise ImportError(f"{path} exports no {reference['name']}") from None


def load(folder, spec):
    sys.path.append(folder)
    package = types.ModuleType(PACKAGE)
    package.__path__ = [folder]
    sys.modules[PACKAGE] = package
    missing = [name for name in spec["dependencies"] if not is_installed(name)]
    if missing:
        raise MissingModules(missing)
    tools = []
    for reference in spec["toolsets"]:
        given = load_export(reference)
        holder = given() if inspect.isclass(given) else given
        members = holder if isinstance(holder, (list, tuple)) else getattr(holder, "tools", None)
        members = members() if callable(members) else members
        if not isinstance(members, (list, tuple)):
            raise TypeError(f"{reference['path']}:{reference['name']} is no list of tools")
        tools += [Tool(member) for member in members]
    if spec.get("provider") is not None:
        tools += provided_tools(spec)
    return tools


def provided_tools(spec):
    provider = load_export(spec["provider"])()
    supported = list(provider.supported_tools)
    provider_name = provider.provider_name
    for row in spec["tools"]:
        if row.get("provider") not in (None, provider_name):
            own = f"{type(provider).__name__} is {provider_name}"
            raise ValueError(f"the tool {row['name']} is of the provider {row['provider']}, and {own}")
    wanted = spec["tools"] or [{"name": name, "config": {}} for name in supported]
    tools = []
    for row in wanted:
        name, config = row["name"], row["config"]
        if name not in supported:
            raise ValueError(f"{type(provider).__name__} does not support the tool {name}")
        validate = getattr(provider, "validate_config", None)
        if validate is not None and validate(config) is False:
            raise ValueError(f"the config of the tool {name} is not valid")
        context = skills.SkillToolContext(spec["job"], spec["skill"], config)
        tools.append(Tool(provider.create_tool(name, context, config), name))
    return tools


class Tool:
    """A tool of a skill, in any of the supported forms."""

    def __init__(self, given, name=None):
        self.given = given
        self.name = name or getattr(given, "name", None) or getattr(given, "__name__", None)
        if not isinstance(self.name, str):
            raise TypeError("a tool has no name")
        description = getattr(given, "description", None) or inspect.getdoc(given)
        self.description = description if isinstance(description, str) else ""
        self.input = self.schema()

    def schema(self):
        schema = getattr(self.given, "args_schema", None)
        if isinstance(schema, dict):
            return schema
        for name in ("model_json_schema", "schema"):
            if callable(getattr(schema, name, None)):
                return getattr(schema, name)()
        return schema_of(getattr(self.given, "function", None) or self.function())

    def function(self):
        for name in ("_run", "_arun", "run", "execute"):
            found = getattr(self.given, name, None)
            if callable(found) and getattr(type(self.given), name, None) is not skills.BaseTool._run:
                return found
        if callable(self.given):
            return self.given
        raise TypeError(f"the tool {self.name} has no _run")

    def run(self, arguments):
        invoke = getattr(self.given, "invoke", None)
        given = arguments if isinstance(arguments, dict) else {} if arguments is None else {"input": arguments}
        value = invoke(given) if callable(invoke) else self.function()(**given)
        if inspect.isawaitable(value):
            value = asyncio.run(completed(value))
        return value.model_dump() if callable(getattr(value, "model_dump", None)) else value


async def completed(value):
    return await value


TYPES = {str: "string", int: "integer", float: "number", bool: "boolean", list: "array", dict: "object"}


def schema_of(function):
    """A schema from a function's parameters: names, required parameters, and plain types."""
    signature = inspect.signature(function)
    try:
        hints = typing.get_type_hints(function)
    except Exception:
        hints = {}
    properties, required, open_ended = {}, [], False
    for parameter in signature.parameters.values():
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            open_ended = True
        elif parameter.kind in (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY):
            if parameter.name in ("run_manager", "config"):
                continue
            hint = hints.get(parameter.name)
            kind = TYPES.get(typing.get_origin(hint) or hint)
            properties[parameter.name] = {} if kind is None else {"type": kind}
            if parameter.default is inspect.Parameter.empty:
                required.append(parameter.name)
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": open_ended}


def message_of(error):
    text = str(error) or type(error).__name__
    return text[:4000]


#: A call that finishes within this many seconds sends its answer with the next request for an order.
QUICK = 0.002


class Making(threading.Thread):
    """One call, in its own thread."""

    def __init__(self, tool, order):
        super().__init__(daemon=True)
        self.tool, self.order = tool, order
        self.lock = threading.Lock()
        self.answer = None
        self.is_late = False

    def run(self):
        try:
            answer = {"id": self.order["id"], "value": self.tool.run(self.order["args"])}
        except BaseException as error:
            answer = {"id": self.order["id"], "error": message_of(error)}
        with self.lock:
            self.answer = answer
            if not self.is_late:
                return
        send(answer)

    def take(self):
        """The answer if it is ready; otherwise the thread sends it later."""
        self.join(QUICK)
        with self.lock:
            self.is_late = self.answer is None
            return self.answer


def unsendable(answer, error):
    """The report of an answer that cannot be sent."""
    reason = message_of(error).removeprefix("Cannot make the call: ")
    return {"id": answer["id"], "error": reason, "code": getattr(error, "code", None)}


def next_order(answer):
    try:
        return skillcell.call_tool("skill-code.next", {"answer": answer})
    except Exception as error:
        if answer is None:
            raise
        # An answer that cannot be sent counts as a failure.
        return skillcell.call_tool("skill-code.next", {"answer": unsendable(answer, error)})


def send(answer):
    try:
        skillcell.call_tool("skill-code.answer", answer)
    except Exception as error:
        try:
            skillcell.call_tool("skill-code.answer", unsendable(answer, error))
        except Exception:
            # On a closed channel the failure cannot be reported.
            pass


def serve():
    spec = json.loads(sys.argv[1])
    folder = os.path.join(os.environ["SKILLS_DIR"], *spec["skill"].split(".", 1))
    try:
        give_modules()
        loaded = load(folder, spec)
        tools = {tool.name: tool for tool in loaded}
        rows = [{"name": tool.name, "description": tool.description, "input": tool.input} for tool in loaded[: spec["mostTools"] + 1]]
        send({"id": 0, "tools": rows})
    except MissingModules as error:
        names = error.args[0]
        message = f"the modules {', '.join(names)} are missing"
        return skillcell.call_tool("skill-code.answer", {"id": 0, "error": message, "missing": names})
    except BaseException as error:
        return skillcell.call_tool("skill-code.answer", {"id": 0, "error": message_of(error), "missing": []})
    answer = None
    while True:
        order = next_order(answer)
        answer = None
        if order is not None and "call" in order:
            making = Making(tools[order["call"]["tool"]], order["call"])
            making.start()
            answer = making.take()
