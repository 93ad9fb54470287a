"""Lists the requirements of a script that this Python does not meet.

A script states them in a block of comments (PEP 723), as requirements (PEP 508) with versions (PEP 440). No code of the script is run, and
no package is installed.
"""

import json
import os
import platform
import re
import sys
from importlib import metadata

try:
    import tomllib
except ImportError:  # Python 3.10 and older
    tomllib = None

MAX_TEXT = 1_000
MAX_REQUIREMENTS = 1_000
MAX_EXTRAS = 100


class Unreadable(ValueError):
    """A block, a requirement or a version of unknown form."""


def unmet(path):
    """The unmet requirements, one line each; empty if all are met or there are none."""
    try:
        with open(path, "rb") as file:
            block = script_block(file.read().decode("utf-8-sig", "replace"))
        if block is None:
            return []
        wanted_python, requirements = read_block(block)
        rows = [unmet_python(wanted_python)] if wanted_python is not None else []
        installed = installed_packages() if requirements else {}
        rows += [unmet_requirement(text, installed) for text in requirements]
    except Unreadable as error:
        return [f"its block of requirements cannot be read ({error})"]
    except RecursionError:
        return ["its block of requirements cannot be read (it is too deep)"]
    return [row for row in rows if row is not None]


def script_block(text):
    """The TOML text of the block `script`; None if there is no such block."""
    lines = [line[:-1] if line.endswith("\r") else line for line in text.split("\n")]
    blocks = []
    index = 0
    while index < len(lines):
        opening = re.fullmatch(r"# /// ([a-zA-Z0-9-]+)", lines[index])
        index += 1
        if opening is None:
            continue
        end = index
        while end < len(lines) and (lines[end] == "#" or lines[end].startswith("# ")):
            end += 1
        closings = [at for at in range(index + 1, end) if lines[at] == "# ///"]
        if not closings:
            # These comments cannot close a block that begins later either.
            index = end
            continue
        if opening[1] == "script":
            blocks.append("".join(line[2:] + "\n" for line in lines[index : closings[-1]]))
        index = closings[-1] + 1
    if len(blocks) > 1:
        raise Unreadable("there are several")
    return blocks[0] if blocks else None


def read_block(block):
    table = toml_table(block)
    python, requirements = table.get("requires-python"), table.get("dependencies", [])
    if python is not None and not isinstance(python, str):
        raise Unreadable("requires-python must be a text")
    if not isinstance(requirements, list) or not all(isinstance(text, str) for text in requirements):
        raise Unreadable("dependencies must be a list of texts")
    if len(requirements) > MAX_REQUIREMENTS:
        raise Unreadable(f"there are more than {MAX_REQUIREMENTS} dependencies")
    return python, requirements


def toml_table(block):
    if tomllib is None:
        return plain_table(block)
    try:
        return tomllib.loads(block)
    except ValueError as error:
        raise Unreadable(str(error)[:MAX_TEXT]) from None


TOKEN = re.compile(
    r"""(?P<blank>[ \t]+|\#[^\n]*)|(?P<line>\n)|(?P<text>"(?:[^"\\\n]|\\.)*"|'[^'\n]*')|(?P<mark>[\[\],=])|(?P<word>[A-Za-z0-9_.-]+)|(?P<other>.)"""
)


def plain_table(block):
    """The keys before the first table, if their values are texts or lists of texts: for a Python without `tomllib`."""
    tokens = []
    at = 0
    while at < len(block):
        found = TOKEN.match(block, at)
        at = found.end()
        if found.lastgroup != "blank":
            tokens.append((found.lastgroup, found.group()))
    table, index = {}, 0

    def take(kind=None, skip_lines=False):
        nonlocal index
        while skip_lines and index < len(tokens) and tokens[index][0] == "line":
            index += 1
        if index == len(tokens):
            raise Unreadable("it ends too early")
        found, text = tokens[index]
        index += 1
        if kind is not None and found != kind:
            raise Unreadable(f"this Python cannot read {text[:20]!r}")
        return found, text

    def value():
        kind, text = take()
        if kind == "text":
            return plain_text(text)
        if text != "[":
            raise Unreadable(f"this Python cannot read {text[:20]!r}")
        items = []
        while True:
            kind, text = take(skip_lines=True)
            if text == "]" and kind == "mark":
                return items
            if kind != "text":
                raise Unreadable(f"this Python cannot read {text[:20]!r}")
            items.append(plain_text(text))
            _, text = take("mark", skip_lines=True)
            if text == "]":
                return items
            if text != ",":
                raise Unreadable(f"this Python cannot read {text[:20]!r}")

    while index < len(tokens):
        kind, text = take()
        if kind == "line":
            continue
        if text == "[" and kind == "mark":
            return table
        if kind == "text":
            text = plain_text(text)
        elif kind != "word":
            raise Unreadable(f"this Python cannot read {text[:20]!r}")
        if take("mark")[1] != "=":
            raise Unreadable(f"{text[:20]!r} has no value")
        if text in table:
            raise Unreadable(f"{text[:20]!r} is there twice")
        table[text] = value()
        if index < len(tokens):
            take("line")
    return table


def plain_text(quoted):
    if quoted.startswith("'"):
        return quoted[1:-1]
    try:
        return json.loads(quoted)
    except ValueError:
        raise Unreadable(f"this Python cannot read {quoted[:20]!r}") from None


def unmet_python(wanted):
    here = platform.python_version()
    if fits(here, specifiers(wanted)):
        return None
    return f"Python {wanted.strip()} ({here} is here)"


def installed_packages():
    found = {}
    for package in metadata.distributions():
        name = package.metadata["Name"]
        # A half removed package has a folder and no name. Of two packages with one name, the first is imported.
        if name:
            found.setdefault(normal_name(name), package)
    return found


def normal_name(name):
    """PEP 503."""
    return re.sub(r"[-_.]+", "-", name).lower()


REQUIREMENT = re.compile(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)\s*(?:\[([^\]]*)\])?\s*(.*)", re.DOTALL)


def read_requirement(text):
    """Name, extras, specifiers, address and marker of a requirement."""
    if len(text) > MAX_TEXT:
        raise Unreadable(f"a dependency has more than {MAX_TEXT} characters")
    found = REQUIREMENT.fullmatch(text)
    if found is None or found[1][-1] in "._-":
        raise Unreadable(f"{text!r} names no package")
    name, extras, rest = found[1], found[2] or "", found[3].strip()
    names = [normal_name(extra.strip()) for extra in extras.split(",") if extra.strip()]
    if rest.startswith("@"):
        address, _, marker = re.sub(r"\s+;", " ;", rest[1:].strip()).partition(" ;")
        return name, names, [], address.strip(), marker
    versions, _, marker = rest.partition(";")
    versions = versions.strip()
    if versions.startswith("(") and versions.endswith(")"):
        versions = versions[1:-1]
    return name, names, specifiers(versions, text), None, marker


def unmet_requirement(text, installed, extra="", seen=None):
    name, extras, wanted, address, marker = read_requirement(text)
    if marker.strip() and not marker_holds(marker, extra):
        return None
    shown = text.strip()
    package = installed.get(normal_name(name))
    if package is None:
        return f"{shown} (not installed)"
    if address is not None and not comes_from(package, address):
        return f"{shown} ({package.version} is installed, from elsewhere)"
    if not fits(package.version, wanted):
        return f"{shown} ({package.version} is installed)"
    seen = set() if seen is None else seen
    for asked in extras:
        key = (normal_name(name), asked)
        if key in seen or len(seen) >= MAX_EXTRAS:
            continue
        seen.add(key)
        missing = unmet_extra(package, asked, installed, seen)
        if missing is not None:
            return f"{shown} (its extra {asked} lacks {missing})"
    return None


def unmet_extra(package, extra, installed, seen):
    known = [normal_name(name) for name in package.metadata.get_all("Provides-Extra") or []]
    if extra not in known:
        return "a meaning: there is no such extra"
    for text in package.requires or []:
        *_, marker = read_requirement(text)
        # Requirements without the extra came with the package.
        if "extra" not in marker or not marker_holds(marker, extra):
            continue
        missing = unmet_requirement(text.partition(";")[0], installed, extra, seen)
        if missing is not None:
            return missing
    return None


def comes_from(package, address):
    try:
        return json.loads(package.read_text("direct_url.json") or "{}").get("url") == address
    except (ValueError, AttributeError):
        return False


VERSION = re.compile(
    r"\s*v?(?:(?P<epoch>[0-9]+)!)?(?P<release>[0-9]+(?:\.[0-9]+)*)"
    r"(?:[-_.]?(?P<pre_kind>alpha|a|beta|b|preview|pre|c|rc)[-_.]?(?P<pre>[0-9]+)?)?"
    r"(?:-(?P<post_short>[0-9]+)|[-_.]?(?P<post_kind>post|rev|r)[-_.]?(?P<post>[0-9]+)?)?"
    r"(?:[-_.]?(?P<dev_kind>dev)[-_.]?(?P<dev>[0-9]+)?)?"
    r"(?:\+(?P<local>[a-z0-9]+(?:[-_.][a-z0-9]+)*))?\s*",
    re.IGNORECASE | re.ASCII,
)
PRE_KINDS = {"alpha": "a", "beta": "b", "c": "rc", "pre": "rc", "preview": "rc"}


class Version:
    """A version (PEP 440). `public` and `key` sort as versions do, without and with the local part."""

    def __init__(self, text):
        found = VERSION.fullmatch(text) if len(text) <= MAX_TEXT else None
        if found is None:
            raise Unreadable(f"{text[:MAX_TEXT]!r} is no version")
        self.epoch = int(found["epoch"] or 0)
        self.release = tuple(int(part) for part in found["release"].split("."))
        kind = (found["pre_kind"] or "").lower()
        pre = (0, PRE_KINDS.get(kind, kind), int(found["pre"] or 0)) if kind else None
        self.is_post = bool(found["post_short"] or found["post_kind"])
        post = int(found["post_short"] or found["post"] or 0) if self.is_post else -1
        dev = int(found["dev"] or 0) if found["dev_kind"] else None
        self.is_pre = pre is not None or dev is not None
        if pre is None:
            # 1.0.dev1 sorts before 1.0a1, and 1.0 after all of them.
            pre = (-1, "", 0) if dev is not None and not self.is_post else (1, "", 0)
        self.base = (self.epoch, without_zeros(self.release))
        self.public = (*self.base, pre, post, float("inf") if dev is None else dev)
        local = re.split(r"[-_.]", found["local"].lower()) if found["local"] else []
        self.local = tuple((1, int(part), "") if part.isdigit() else (0, 0, part) for part in local)
        self.key = (*self.public, self.local)


def without_zeros(release):
    end = len(release)
    while end > 1 and release[end - 1] == 0:
        end -= 1
    return release[:end]


SPECIFIER = re.compile(r"\s*(~=|===|==|!=|<=|>=|<|>)\s*(\S+)\s*")


def specifiers(text, whole=None):
    """Pairs of an operator and its version."""
    pairs = []
    for part in text.split(","):
        if part.strip() == "":
            continue
        found = SPECIFIER.fullmatch(part)
        if found is None or len(part) > MAX_TEXT:
            raise Unreadable(f"{(whole or text)[:MAX_TEXT]!r} compares with no version")
        operator, wanted = found[1], found[2]
        if operator != "===":
            # Checked now: an incomparable version is a fault of the script, not of the package.
            compares(Version("0"), operator, wanted)
        pairs.append((operator, wanted))
    return pairs


def fits(here, wanted):
    if not wanted:
        return True
    if all(operator == "===" for operator, _ in wanted):
        return all(here.lower() == text.lower() for _, text in wanted)
    try:
        version = Version(here)
    except Unreadable:
        return False
    return all(
        here.lower() == text.lower() if operator == "===" else compares(version, operator, text)
        for operator, text in wanted
    )


def compares(here, operator, wanted):
    if operator in ("==", "!=") and wanted.endswith(".*"):
        return begins_with(here, Version(wanted[:-2])) == (operator == "==")
    limit = Version(wanted)
    if operator == "~=":
        if len(limit.release) < 2:
            raise Unreadable(f"'~={wanted}' needs a second number")
        series = Version(f"{limit.epoch}!" + ".".join(str(part) for part in limit.release[:-1]))
        return here.public >= limit.public and begins_with(here, series)
    if operator in ("==", "!="):
        same = here.key == limit.key if limit.local else here.public == limit.public
        return same == (operator == "==")
    if operator == "<=":
        return here.public <= limit.public
    if operator == ">=":
        return here.public >= limit.public
    if operator == "<":
        return here.key < limit.key and (limit.is_pre or not here.is_pre or here.base != limit.base)
    # A later build of a version is not a later version.
    return here.key > limit.key and (here.base != limit.base or not (here.local or (here.is_post and not limit.is_post)))


def begins_with(here, series):
    size = len(series.release)
    padded = here.release + (0,) * (size - len(here.release))
    return here.epoch == series.epoch and padded[:size] == series.release


MARKER = re.compile(r"\s*(?:(?P<mark>[()])|(?P<operator>===|==|~=|!=|<=|>=|<|>)|(?P<text>'[^']*'|\"[^\"]*\")|(?P<word>[a-z_]+))\s*")


def environment(extra):
    info = sys.implementation.version
    kind = info.releaselevel
    implementation = f"{info.major}.{info.minor}.{info.micro}" + ("" if kind == "final" else f"{kind[0]}{info.serial}")
    return {
        "implementation_name": sys.implementation.name,
        "implementation_version": implementation,
        "os_name": os.name,
        "platform_machine": platform.machine(),
        "platform_python_implementation": platform.python_implementation(),
        "platform_release": platform.release(),
        "platform_system": platform.system(),
        "platform_version": platform.version(),
        "python_full_version": platform.python_version(),
        "python_version": ".".join(platform.python_version_tuple()[:2]),
        "sys_platform": sys.platform,
        "extra": extra,
    }


def marker_holds(marker, extra=""):
    """Whether a condition of PEP 508 holds here."""
    tokens = []
    at = 0
    marker = marker.strip()
    while at < len(marker):
        found = MARKER.match(marker, at)
        if found is None:
            raise Unreadable(f"{marker!r} is no condition")
        tokens.append((found.lastgroup, found[found.lastgroup]))
        at = found.end()
    variables = environment(extra)
    index = 0

    def peek():
        return tokens[index] if index < len(tokens) else (None, None)

    def take():
        nonlocal index
        index += 1
        return tokens[index - 1] if index <= len(tokens) else (None, None)

    def broken():
        return Unreadable(f"{marker!r} is no condition")

    def operand():
        kind, text = take()
        if kind == "text":
            return None, text[1:-1]
        if kind == "word" and text in variables:
            return text, variables[text]
        raise broken()

    def comparison():
        if peek() == ("mark", "("):
            take()
            held = alternatives()
            if take() != ("mark", ")"):
                raise broken()
            return held
        left = operand()
        kind, operator = take()
        if (kind, operator) == ("word", "not"):
            if take() != ("word", "in"):
                raise broken()
            operator = "not in"
        elif kind != "operator" and (kind, operator) != ("word", "in"):
            raise broken()
        right = operand()
        return values_compare(left, operator, right)

    def all_of():
        held = comparison()
        while peek() == ("word", "and"):
            take()
            held = comparison() and held
        return held

    def alternatives():
        held = all_of()
        while peek() == ("word", "or"):
            take()
            held = all_of() or held
        return held

    held = alternatives()
    if index != len(tokens):
        raise broken()
    return held


def values_compare(left, operator, right):
    (left_name, left_text), (right_name, right_text) = left, right
    if "extra" in (left_name, right_name):
        left_text, right_text = normal_name(left_text), normal_name(right_text)
    elif operator not in ("in", "not in", "==="):
        try:
            return compares(Version(left_text), operator, right_text)
        except Unreadable:
            pass  # Texts compare as texts.
    if operator == "in":
        return left_text in right_text
    if operator == "not in":
        return left_text not in right_text
    if operator in ("==", "==="):
        return left_text == right_text
    if operator == "!=":
        return left_text != right_text
    if operator == "~=":
        raise Unreadable(f"{right_text!r} is no version")
    if operator in ("<", "<="):
        return left_text < right_text or (operator == "<=" and left_text == right_text)
    return left_text > right_text or (operator == ">=" and left_text == right_text)
