"""Ordinary work of a Python program; prints one JSON object with results that do not depend on the machine."""

import asyncio
import concurrent.futures
import ctypes
import fcntl
import hashlib
import json
import mmap
import multiprocessing
import multiprocessing.shared_memory
import os
import pty
import resource
import secrets
import select
import selectors
import shutil
import signal
import socket
import sqlite3
import ssl
import stat
import subprocess
import sys
import tempfile
import threading
import time
import zlib


def double(number):
    return number * 2


def put(queue):
    queue.put(os.getpid() != os.getppid())


async def run_and_serve():
    child = await asyncio.create_subprocess_exec("cat", stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    echoed, _ = await child.communicate(b"echoed")

    async def answer(reader, writer):
        writer.write(await reader.readline())
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
    writer.write(b"line\n")
    line = await reader.readline()
    writer.close()
    server.close()
    threaded = await asyncio.to_thread(double, 4)
    return [echoed.decode(), child.returncode, line.decode(), threaded]


def main():
    results = {}
    finished = subprocess.run(["sh", "-c", "cat; exit 3"], input="in", capture_output=True, text=True, start_new_session=True)
    results["subprocess"] = [finished.returncode, finished.stdout]
    results["popen"] = os.popen("echo popen").read()

    lock, counts = threading.Lock(), []
    threads = [threading.Thread(target=lambda: lock.__enter__() and (counts.append(1), lock.__exit__())) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    results["threads"] = len(counts)

    for method in ("fork", "spawn", "forkserver"):
        context = multiprocessing.get_context(method)
        queue = context.Queue()
        process = context.Process(target=put, args=(queue,))
        process.start()
        results[f"process {method}"] = [queue.get(timeout=20), process.join(), process.exitcode]
    with multiprocessing.get_context("fork").Pool(2) as pool:
        results["pool"] = pool.map(double, range(4))
    with concurrent.futures.ProcessPoolExecutor(2) as executor:
        results["executor"] = list(executor.map(double, range(3)))
    shared = multiprocessing.shared_memory.SharedMemory(create=True, size=16)
    shared.buf[0] = 7
    results["shared memory"] = shared.buf[0]
    shared.close()
    shared.unlink()
    value = multiprocessing.Value("i", 3)
    results["value"] = value.value
    results["asyncio"] = asyncio.run(run_and_serve())

    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "source")
        os.makedirs(os.path.join(source, "deep"))
        with open(os.path.join(source, "file"), "w") as file:
            file.write("text")
            file.flush()
            os.fsync(file.fileno())
            fcntl.flock(file, fcntl.LOCK_EX)
            os.posix_fallocate(file.fileno(), 0, 64)
        os.symlink("file", os.path.join(source, "link"))
        os.mkfifo(os.path.join(source, "fifo"))
        results["fifo"] = stat.S_ISFIFO(os.stat(os.path.join(source, "fifo")).st_mode)
        os.unlink(os.path.join(source, "fifo"))
        copied = shutil.copytree(source, os.path.join(folder, "copy"), symlinks=True)
        shutil.make_archive(os.path.join(folder, "packed"), "gztar", copied)
        results["files"] = sorted(os.listdir(copied)) + [os.path.getsize(os.path.join(copied, "file"))]
        database = sqlite3.connect(os.path.join(folder, "data.sqlite"))
        database.execute("pragma journal_mode=wal")
        database.execute("create table numbers (number)")
        database.executemany("insert into numbers values (?)", [(number,) for number in range(10)])
        database.commit()
        results["sqlite"] = database.execute("select sum(number) from numbers").fetchone()[0]
        database.close()

    left, right = socket.socketpair()
    left.sendall(b"pair")
    poller = select.epoll()
    poller.register(right, select.EPOLLIN)
    results["epoll"] = len(poller.poll(1)) and right.recv(9).decode()
    with selectors.DefaultSelector() as selector:
        results["selector"] = selector.register(left, selectors.EVENT_WRITE).fd == left.fileno()
    results["select"] = len(select.select([], [left], [], 1)[1])
    results["interfaces"] = [name for _, name in socket.if_nameindex()]
    results["tls"] = ssl.create_default_context().check_hostname

    controller, terminal = pty.openpty()
    os.write(terminal, b"typed")
    results["terminal"] = [os.isatty(terminal), os.read(controller, 9).decode()]
    pid, descriptor = pty.fork()
    if pid == 0:
        os.execvp("echo", ["echo", "in a terminal"])
    results["terminal child"] = [os.read(descriptor, 99).decode(), os.waitpid(pid, 0)[1]]

    fired = []
    signal.signal(signal.SIGALRM, lambda *_: fired.append(1))
    # Repeated, because a single alarm may fire before the pause.
    signal.setitimer(signal.ITIMER_REAL, 0.02, 0.02)
    signal.pause()
    signal.setitimer(signal.ITIMER_REAL, 0)
    results["signal"] = fired[:1]
    results["sigwait"] = signal.sigtimedwait([signal.SIGUSR1], 0)

    memory = mmap.mmap(-1, 4096)
    memory[:2] = b"ok"
    results["mmap"] = memory[:2].decode()
    file = os.memfd_create("named")
    results["memfd"] = os.write(file, b"four")
    results["ctypes"] = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)(double)(21)
    results["hash"] = hashlib.scrypt(b"secret", salt=b"salt", n=2, r=8, p=1, dklen=4).hex()
    results["zlib"] = zlib.decompress(zlib.compress(b"text")).decode()
    results["random"] = len(secrets.token_bytes(8)) + len(os.urandom(8))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    results["system"] = [len(os.sched_getaffinity(0)) > 0, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss > 0, os.nice(1) > 0, os.times().elapsed > 0]
    json.dump(results, sys.stdout)


if __name__ == "__main__":
    main()
