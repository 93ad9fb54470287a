"""Compiles a seccomp profile to a filter like a container engine, with libseccomp.

Reads {profile, architecture} as JSON from standard input; the architecture is a libseccomp token. Prints JSON with the
BPF program in hexadecimal and the names that this libseccomp does not know.
"""

import ctypes
import json
import os
import sys
import tempfile

ARCHITECTURES = {"SCMP_ARCH_X86_64": 0xC000003E, "SCMP_ARCH_AARCH64": 0xC00000B7}
ALLOW, ERRNO, MASKED_EQUAL = 0x7FFF0000, 0x00050000, 7

lib = ctypes.CDLL("libseccomp.so.2")
lib.seccomp_init.restype = ctypes.c_void_p
lib.seccomp_arch_native.restype = ctypes.c_uint32


class Comparison(ctypes.Structure):
    _fields_ = [("arg", ctypes.c_uint), ("op", ctypes.c_int), ("mask", ctypes.c_uint64), ("datum", ctypes.c_uint64)]


def check(result, action):
    if result < 0:
        raise OSError(-result, f"{action}: {os.strerror(-result)}")


asked = json.load(sys.stdin)
profile, architecture = asked["profile"], ARCHITECTURES[asked["architecture"]]
default = ERRNO | profile["defaultErrnoRet"]
context = ctypes.c_void_p(lib.seccomp_init(ctypes.c_uint32(default)))
if lib.seccomp_arch_native() != architecture:
    check(lib.seccomp_arch_add(context, ctypes.c_uint32(architecture)), "add the architecture")
    check(lib.seccomp_arch_remove(context, ctypes.c_uint32(lib.seccomp_arch_native())), "remove the machine's own")

unknown = []
for rule in profile["syscalls"]:
    action = ALLOW if rule["action"] == "SCMP_ACT_ALLOW" else ERRNO | rule["errnoRet"]
    tests = [Comparison(test["index"], MASKED_EQUAL, test["value"], test["valueTwo"]) for test in rule.get("args", [])]
    for name in rule["names"]:
        number = lib.seccomp_syscall_resolve_name(name.encode())
        if number == -1:
            unknown.append(name)
            continue
        check(
            lib.seccomp_rule_add_array(context, ctypes.c_uint32(action), number, len(tests), (Comparison * len(tests))(*tests)),
            f"add a rule for {name}",
        )

with tempfile.TemporaryFile() as file:
    check(lib.seccomp_export_bpf(context, file.fileno()), "export the program")
    file.seek(0)
    json.dump({"program": file.read().hex(), "unknown": unknown}, sys.stdout)
