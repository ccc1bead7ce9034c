"""What watches over the commands inside a container; the service hands this text to python3.

`init` is process 1. It lives while its standard input is open, which is while the service lives. On SIGUSR1, which
the engine sends for the service, it ends every other process: it needs no new process for that, so it can when a
command has used up all there may be.

`run` is one command. When the command is done or its time is over, it ends every other process, so that nothing of
one command is left to the next. That is why nothing else of ours may be at work in the container meanwhile.
"""
import json, os, signal, sys, threading

CHUNK = 1 << 16


def init(lifetime_seconds):
    for folder in ('/tmp/_out', '/tmp/data'):
        os.makedirs(folder, exist_ok=True)
    signal.signal(signal.SIGUSR1, lambda *_: end_others())
    signal.signal(signal.SIGALRM, lambda *_: os._exit(0))
    signal.signal(signal.SIGCHLD, lambda *_: reap())
    signal.alarm(int(lifetime_seconds))
    os.write(1, b'ready')
    while os.read(0, CHUNK):
        pass


def end_others():
    # One call, which nobody outruns by forking. The kernel spares process 1 and the caller.
    try:
        os.kill(-1, signal.SIGKILL)
    except ProcessLookupError:
        pass


def reap():
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def run():
    """Standard input begins with the request, four bytes of length and JSON; standard error ends with its mark and
    a report."""
    size = int.from_bytes(sys.stdin.buffer.read(4), 'big')
    request = json.loads(sys.stdin.buffer.read(size))
    ooms = count_ooms()
    out, err = os.pipe(), os.pipe()
    shell = os.fork()
    if shell == 0:
        become_shell(request['command'], out[1], err[1])
    os.close(out[1])
    os.close(err[1])
    cut = threading.Event()
    room = request['maxOutputBytes']
    readers = [threading.Thread(target=forward, args=(*pair, room, cut)) for pair in ((out[0], 1), (err[0], 2))]
    for reader in readers:
        reader.start()

    timed_out = threading.Event()
    signal.signal(signal.SIGALRM, lambda *_: (timed_out.set(), end_others()))
    signal.setitimer(signal.ITIMER_REAL, request['timeoutMs'] / 1000)
    status = os.waitpid(shell, 0)[1]
    signal.setitimer(signal.ITIMER_REAL, 0)
    end_others()
    for reader in readers:
        reader.join()
    report = {
        # Negative after a signal.
        'code': os.waitstatus_to_exitcode(status),
        'timedOut': timed_out.is_set(),
        'outOfMemory': count_ooms() > ooms,
        'truncated': cut.is_set(),
    }
    write_all(2, (request['mark'] + json.dumps(report)).encode())


def become_shell(command, out, err):
    try:
        # When memory runs out, the kernel shall take the command and not those who watch it.
        with open('/proc/self/oom_score_adj', 'w') as score:
            score.write('1000')
    except OSError:
        pass
    try:
        os.dup2(os.open('/dev/null', os.O_RDONLY), 0)
        os.dup2(out, 1)
        os.dup2(err, 2)
        os.setsid()
        os.execv('/bin/sh', ['sh', '-c', command])
    except (OSError, ValueError) as error:
        os.write(2, f'sh: {error}\n'.encode())
    os._exit(126)


def forward(source, target, room, cut):
    while chunk := os.read(source, CHUNK):
        if len(chunk) > room:
            cut.set()
        write_all(target, chunk[:room])
        room -= min(room, len(chunk))


def write_all(target, data):
    view = memoryview(data)
    while view:
        view = view[os.write(target, view):]


def count_ooms():
    for path in ('/sys/fs/cgroup/memory.events', '/sys/fs/cgroup/memory/memory.oom_control'):
        try:
            with open(path) as lines:
                return int(dict(line.split() for line in lines)['oom_kill'])
        except (OSError, KeyError):
            pass
    return 0


if sys.argv[1] == 'init':
    init(sys.argv[2])
else:
    run()
