"""Tries what a sandbox is to prevent, and prints a line for each attempt: its name, and `ok` or the error. The first line
is the version of Landlock of the kernel.

The arguments are a directory that the tests have made, and the process id of the host.
"""

import ctypes
import errno
import fcntl
import mmap
import os
import platform
import resource
import socket
import stat
import subprocess
import sys

PLACE, HOST = sys.argv[1], int(sys.argv[2])
OWN = os.environ.get("TMPDIR", "/tmp")
LIBC = ctypes.CDLL(None, use_errno=True)
IS_X86 = platform.machine() == "x86_64"
# Numbers of system calls: on x86_64, and elsewhere.
NUMBERS = {
    "add_key": (248, 217), "keyctl": (250, 219), "bpf": (321, 280), "perf_event_open": (298, 241),
    "userfaultfd": (323, 282), "io_uring_setup": (425, 425), "shmget": (29, 194), "msgget": (68, 186),
    "semget": (64, 190), "mq_open": (240, 180), "ptrace": (101, 117), "process_vm_readv": (310, 270),
    "pidfd_open": (434, 434), "pidfd_getfd": (438, 438), "tgkill": (234, 131), "fchmodat2": (452, 452),
    "open_by_handle_at": (304, 265), "none": (500, 500), "prlimit64": (302, 261),
    "clone": (56, 220), "clone3": (435, 435), "unshare": (272, 97), "setns": (308, 268), "mount": (165, 40),
    "getxattrat": (464, 464), "listxattrat": (465, 465), "inotify_init": (253, 253), "fanotify_init": (300, 262),
    "landlock_create_ruleset": (444, 444), "ioprio_set": (251, 30), "sched_setattr": (314, 274), "fsopen": (430, 430), "fspick": (433, 433),
}

def call(name, *args):
    number = NUMBERS[name][0 if IS_X86 else 1] if isinstance(name, str) else name
    result = LIBC.syscall(ctypes.c_long(number), *[ctypes.c_long(arg) if isinstance(arg, int) else arg for arg in args])
    if result < 0:
        raise OSError(ctypes.get_errno(), name)
    return result

def path(name):
    return os.path.join(PLACE, name)

def file_there(name="file"):
    """A file that was there before."""
    return path(name)

def write(name):
    with open(name, "w") as file:
        file.write("x")

def append():
    with open(file_there(), "a") as file:
        file.write("x")

def changed(function, read):
    """Fails if the call said that all went well and nothing has changed."""
    before = read()
    function()
    if read() == before:
        raise OSError(errno.ENODATA, "nothing has changed")

def mode():
    return stat.S_IMODE(os.stat(file_there()).st_mode)

def xattr_of(function):
    """What reads attributes of a file."""
    def attempt():
        function(file_there())
    return attempt

VALUE = (ctypes.c_uint64 * 2)(0, 0)

def inotify():
    """A watch on a directory that says which names are used there."""
    descriptor = LIBC.inotify_init1(0)
    if descriptor < 0:
        raise OSError(ctypes.get_errno(), "inotify_init1")
    if LIBC.inotify_add_watch(descriptor, PLACE.encode(), 0x100) < 0:
        raise OSError(ctypes.get_errno(), "inotify_add_watch")
    return descriptor

def mmap_shared():
    with open(file_there(), "r+b") as file:
        mmap.mmap(file.fileno(), 1)[0] = 65

def through_proc():
    descriptor = os.open(file_there(), os.O_RDONLY)
    os.close(os.open(f"/proc/self/fd/{descriptor}", os.O_WRONLY))

def datagram_to_name():
    pair = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    pair[0].sendto(b"x", path("socket"))

def connect(family, address):
    def attempt():
        with socket.socket(family, socket.SOCK_STREAM) as opened:
            opened.settimeout(1)
            opened.connect(address)
    return attempt

def host_memory():
    with open(f"/proc/{HOST}/mem", "rb") as memory, open(f"/proc/{HOST}/maps") as maps:
        memory.seek(int(maps.readline().split("-")[0], 16))
        memory.read(1)

def host_thread_memory():
    for thread in os.listdir(f"/proc/{HOST}/task"):
        try:
            os.close(os.open(f"/proc/{HOST}/task/{thread}/mem", os.O_RDONLY))
        except OSError as error:
            has_ended = error.errno in (errno.ENOENT, errno.ESRCH) and int(thread) != HOST
            if not has_ended:
                raise

def host_descriptor():
    descriptor = call("pidfd_open", HOST, 0)
    call("pidfd_getfd", descriptor, 0, 0)

def host_vm():
    class Vector(ctypes.Structure):
        _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]
    buffer = ctypes.create_string_buffer(1)
    with open("/proc/self/maps") as maps:
        start = int(maps.readline().split("-")[0], 16)
    own, theirs = Vector(ctypes.addressof(buffer), 1), Vector(start, 1)
    call("process_vm_readv", os.getpid(), ctypes.byref(own), 1, ctypes.byref(theirs), 1, 0)

def limits_of_host():
    resource.prlimit(HOST, resource.RLIMIT_NOFILE)

def open_descriptors():
    """Descriptors that the host has left open."""
    listed = os.listdir("/proc/self/fd")
    others = [fd for fd in listed if int(fd) > 2 and os.path.exists(f"/proc/self/fd/{fd}")]
    if others:
        raise OSError(errno.EBADF, f"open: {others}")

def i386():
    """`int 0x80` with getpid: the same call of another architecture."""
    if not IS_X86:
        raise OSError(errno.ENOSYS, "not here")
    code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    code.write(b"\xb8\x14\x00\x00\x00\xcd\x80\xc3")
    address = ctypes.addressof(ctypes.c_char.from_buffer(code))
    child = os.fork()
    if child == 0:
        ctypes.CFUNCTYPE(ctypes.c_int)(address)()
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    if status:
        raise OSError(errno.ENOSYS, f"status {status}")

def of_another(function):
    """What is done to a process with the same rights."""
    def attempt():
        with subprocess.Popen(["sleep", "60"]) as other:
            try:
                function(other.pid)
            finally:
                other.kill()
    return attempt

def in_a_child(function):
    """A call that changes the process that makes it."""
    def attempt():
        child = os.fork()
        if child == 0:
            try:
                function()
                os._exit(0)
            except OSError as error:
                os._exit(error.errno)
        number = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if number:
            raise OSError(number, "in a child")
    return attempt

def clone_user():
    """A child in a user namespace of its own, by CLONE_NEWUSER and SIGCHLD."""
    child = call("clone", 0x1000_0000 | 17, 0, 0, 0, 0)
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)

def chmod_child():
    changed(lambda: subprocess.run(["chmod", "0600", file_there()], check=True), mode)

def in_background():
    subprocess.run(["sh", "-c", f"(: > '{path('background')}') & wait"], check=True)
    os.stat(path("background"))

def as_child():
    subprocess.run(["touch", path("by-child")], stderr=subprocess.DEVNULL)
    os.stat(path("by-child"))

def request(number):
    """A request to a file that was only opened for reading."""
    def attempt():
        with open(file_there()) as file:
            fcntl.ioctl(file.fileno(), number, b"\0" * 128)
    return attempt

def set_flags():
    """Those that it has: what else is possible depends on its place on the disk."""
    with open(file_there()) as file:
        flags = fcntl.ioctl(file.fileno(), 0x80086601, b"\0" * 8)
        fcntl.ioctl(file.fileno(), 0x40086602, flags)

ATTEMPTS = {
    "descriptors": open_descriptors,
    "read": lambda: open(file_there()).read(),
    "read system": lambda: open("/etc/passwd").read(),
    "list": lambda: os.listdir(PLACE),
    "execute": lambda: subprocess.run([path("script")], check=True),
    "execute system": lambda: subprocess.run(["true"], check=True),
    "create": lambda: write(path("new")),
    "create own": lambda: write(os.path.join(OWN, "new")),
    "create tmp": lambda: write("/tmp/forge-hooks-attempt"),
    "append": append,
    "truncate": lambda: os.truncate(file_there(), 1),
    "rename": lambda: os.rename(path("movable"), path("moved")),
    "rename out": lambda: (write(os.path.join(OWN, "a")), os.rename(os.path.join(OWN, "a"), path("in"))),
    "link": lambda: os.link(file_there(), path("link")),
    "symlink": lambda: os.symlink("file", path("symlink")),
    "unlink": lambda: os.unlink(path("removable")),
    "mkdir": lambda: os.mkdir(path("directory")),
    "rmdir": lambda: os.rmdir(path("empty")),
    "mkfifo": lambda: os.mkfifo(path("fifo")),
    "mknod": lambda: os.mknod(os.path.join(OWN, "null"), stat.S_IFCHR | 0o600, os.makedev(1, 3)),
    "mmap": mmap_shared,
    "open again": through_proc,
    "by a child": as_child,
    "in the background": in_background,
    "chmod": lambda: changed(lambda: os.chmod(file_there(), 0o640), mode),
    "chmod by a child": chmod_child,
    "fchmod": lambda: changed(lambda: os.fchmod(os.open(file_there(), os.O_RDONLY), 0o644), mode),
    "fchmodat2": lambda: changed(lambda: call("fchmodat2", -100, file_there().encode(), 0o600, 0), mode),
    "utime": lambda: changed(lambda: os.utime(file_there(), (5, 5)), lambda: os.stat(file_there()).st_mtime),
    "xattr": lambda: changed(
        lambda: os.setxattr(file_there(), "user.x", os.urandom(4)), lambda: os.listxattr(file_there())
    ),
    "read xattr": xattr_of(lambda file: os.getxattr(file, "user.y")),
    "read xattr, no link": xattr_of(lambda file: os.getxattr(file, "user.y", follow_symlinks=False)),
    "read xattr at": lambda: call("getxattrat", -100, file_there().encode(), 0, b"user.y", ctypes.byref(VALUE), 16),
    "read xattr, opened": lambda: os.getxattr(os.open(file_there(), os.O_RDONLY), "user.y"),
    "list xattr": xattr_of(os.listxattr),
    "list xattr, no link": xattr_of(lambda file: os.listxattr(file, follow_symlinks=False)),
    "list xattr at": lambda: call("listxattrat", -100, file_there().encode(), 0, 0, 0),
    # Of a file that it may read.
    "read own xattr": lambda: os.getxattr(os.open("/etc/passwd", os.O_RDONLY), "user.none"),
    "list own xattr": lambda: os.listxattr(os.open("/etc/passwd", os.O_RDONLY)),
    "inotify": inotify,
    "old inotify": lambda: os.close(call("inotify_init") if IS_X86 else inotify()),
    "fanotify": lambda: os.close(call("fanotify_init", 0x200, 0)),
    "lease": lambda: fcntl.fcntl(os.open(file_there(), os.O_RDONLY), fcntl.F_SETLEASE, fcntl.F_RDLCK),
    "dev null": lambda: write("/dev/null"),
    "dev full": lambda: os.close(os.open("/dev/full", os.O_WRONLY)),
    "terminal": lambda: os.close(os.open("/dev/ptmx", os.O_WRONLY)),
    "inet": lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM).close(),
    "inet datagram": lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).close(),
    "inet6": lambda: socket.socket(socket.AF_INET6, socket.SOCK_STREAM).close(),
    "netlink": lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW).close(),
    "unix": connect(socket.AF_UNIX, path("socket")),
    "abstract": connect(socket.AF_UNIX, "\0forge-hooks-nobody"),
    "packet": lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW).close(),
    "vsock": lambda: socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM).close(),
    "pair": lambda: socket.socketpair(),
    "pair of datagrams": datagram_to_name,
    "pair of packets": lambda: socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET),
    # PTRACE_SEIZE, which does not stop it.
    "ptrace": lambda: call("ptrace", 0x4206, HOST, 0, 0),
    "memory": host_memory,
    "memory of threads": host_thread_memory,
    "vm_readv": host_vm,
    "descriptor": host_descriptor,
    "signal": lambda: os.kill(HOST, 0),
    "thread signal": lambda: call("tgkill", HOST, HOST, 0),
    "limits": limits_of_host,
    "own limits": lambda: resource.getrlimit(resource.RLIMIT_NOFILE),
    "priority": of_another(lambda pid: os.setpriority(os.PRIO_PROCESS, pid, 19)),
    # There is no such class: a priority that exists would reach the user's whole machine.
    "priority of the user": lambda: call("ioprio_set", 3, 0, 7 << 13),
    # Of its own group: a hook can join that of its host.
    "priority of the group": lambda: os.setpriority(os.PRIO_PGRP, 0, os.getpriority(os.PRIO_PGRP, 0)),
    "priority of the group's files": lambda: call("ioprio_set", 2, 0, 0),
    # A process may only lower its priority.
    "own priority": in_a_child(lambda: os.setpriority(os.PRIO_PROCESS, 0, os.nice(1) + 1)),
    "priority of files": of_another(lambda pid: call("ioprio_set", 1, pid, 3 << 13)),
    "processors": of_another(lambda pid: os.sched_setaffinity(pid, os.sched_getaffinity(pid))),
    "own processors": lambda: os.sched_setaffinity(0, os.sched_getaffinity(0)),
    "scheduler": of_another(lambda pid: os.sched_setscheduler(pid, os.SCHED_BATCH, os.sched_param(0))),
    "scheduler by attributes": of_another(lambda pid: call("sched_setattr", pid, 0, 0)),
    "environment": lambda: open(f"/proc/{HOST}/environ", "rb").read(1),
    "shared memory": lambda: call("shmget", 0, 4096, 0o1600),
    "message queue": lambda: call("msgget", 0, 0o1600),
    "semaphore": lambda: call("semget", 0, 1, 0o1600),
    "posix queue": lambda: call("mq_open", b"forge-hooks", os.O_CREAT | os.O_RDWR, 0o600, 0),
    "key": lambda: call("add_key", b"user", b"forge-hooks", b"x", 1, -3),
    "keyring": lambda: call("keyctl", 0, -3, 1),
    "bpf": lambda: call("bpf", 0, 0, 0),
    "perf": lambda: call("perf_event_open", 0, 0, -1, -1, 0),
    "userfaultfd": lambda: call("userfaultfd", 1),
    "io_uring": lambda: call("io_uring_setup", 0, 0),
    "handle": lambda: call("open_by_handle_at", -100, 0, 0),
    "terminal text": lambda: fcntl.ioctl(0, 0x5412, b"x"),
    "terminal text, 64 bits": lambda: call(16 if IS_X86 else 29, 0, 0x1_0000_5412, b"x"),
    "user namespace": in_a_child(lambda: call("unshare", 0x1000_0000)),
    "cloned user namespace": clone_user,
    # With CLONE_THREAD, so that it fails where it is not refused: the host would keep the child.
    "child of the host": lambda: call("clone", 0x8000 | 0x1_0000, 0, 0, 0, 0),
    "clone3": lambda: call("clone3", 0, 0),
    "setns": lambda: call("setns", -1, 0),
    "mount": lambda: call("mount", 0, 0, 0, 0, 0),
    "fsopen": lambda: call("fsopen", 0, 0),
    "fspick": lambda: call("fspick", -1, 0, 0),
    "new call": lambda: call("none"),
    "x32": lambda: call(0x4000_0000 + 39),
    "i386": i386,
    "flags": request(0x80086601),
    "set flags": set_flags,
    "verity": request(0x40806685),
    "version": request(0x40087602),
    "terminal size": request(0x5413),
    "device request": lambda: fcntl.ioctl(os.open("/dev/ptmx", os.O_RDONLY | os.O_NOCTTY), 0x5413, b"\0" * 8),
    "privileges": lambda: subprocess.run(["grep", "-q", "NoNewPrivs:.0", "/proc/self/status"], check=True),
}

def landlock():
    try:
        return call("landlock_create_ruleset", 0, 0, 1)
    except OSError:
        return 0

print(f"Landlock: {landlock()}")
for name, attempt in ATTEMPTS.items():
    try:
        attempt()
        said = "ok"
    except OSError as error:
        said = errno.errorcode.get(error.errno, str(error))
    except subprocess.CalledProcessError as error:
        said = f"exit {error.returncode}"
    print(f"{name}: {said}", flush=True)
