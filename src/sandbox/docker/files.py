"""How files go into a container and out of it; the service hands this text to python3, with the name of a function
below. The request is the first frame of standard input: four bytes of length, then JSON. Content goes to standard
output, and one line of JSON at the end to standard error: an answer, or what the problem was. That input ends is
never waited for, since not every way to an engine can tell of it.
"""
import errno, json, os, shutil, stat, sys

stdin, stdout = sys.stdin.buffer, sys.stdout.buffer
BROKEN_OFF = 0xFFFFFFFF


def put(_):
    """Files and folders, all of them or none. For each a frame of JSON; for a file then the frames of its content
    and an empty one. An empty frame in the place of an entry says that it was all."""
    staging = f'/tmp/.incoming-{os.getpid()}'
    os.mkdir(staging)
    try:
        entries = []
        while header := read_frame():
            entry = json.loads(header)
            if entry['kind'] == 'file':
                entry['draft'] = f'{staging}/{len(entries)}'
                receive(entry)
            entries.append(entry)
        for entry in entries:
            place(entry)
        return {}
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def receive(entry):
    with open(entry['draft'], 'wb') as draft:
        while chunk := read_frame():
            draft.write(chunk)
    os.chmod(entry['draft'], entry['mode'])
    os.utime(entry['draft'], (entry['mtimeMs'] / 1000, entry['mtimeMs'] / 1000))


def place(entry):
    path = os.path.realpath(entry['path'])
    if not path.startswith('/tmp/'):
        raise OSError(errno.EROFS, 'Only files below /tmp can be written', path)
    folder = path if entry['kind'] == 'folder' else os.path.dirname(path)
    os.makedirs(folder, exist_ok=True)
    if entry['kind'] == 'file':
        os.replace(entry['draft'], path)


def read_frame():
    size = int.from_bytes(read_exactly(4), 'big')
    if size == BROKEN_OFF:
        raise EOFError('the input was broken off')
    return read_exactly(size)


def read_exactly(size):
    data = stdin.read(size)
    if len(data) < size:
        raise EOFError('the input ended in the middle')
    return data


def get(request):
    # Anything else, a pipe for one, could keep us waiting.
    if not os.path.isfile(request['path']):
        return {'missing': True}
    with open(request['path'], 'rb') as file:
        shutil.copyfileobj(file, stdout)
    return {}


def names(request):
    try:
        found = os.listdir(request['folder'])
    except (FileNotFoundError, NotADirectoryError):
        found = []
    stdout.write(json.dumps(found).encode())
    return {}


def measure(request):
    """What lies in the folders: files that can be read and folders. No links, no pipes, no sockets. With it the text
    of what may be a note: a small file with the end of a note's name."""
    found, note = [], request['note']
    for top in request['folders']:
        if os.path.islink(top):
            continue
        for folder, _, files in os.walk(top):
            found.append({'path': folder, 'kind': 'folder', 'bytes': 0, 'print': 'folder'})
            for name in files:
                path = f'{folder}/{name}'
                status = os.lstat(path)
                if stat.S_ISREG(status.st_mode) and os.access(path, os.R_OK):
                    entry = {'path': path, 'kind': 'file', 'bytes': status.st_size, 'print': print_of(status)}
                    if name.endswith(note['end']) and status.st_size <= note['maxBytes']:
                        with open(path, encoding='utf-8', errors='replace', newline='') as file:
                            entry['text'] = file.read()
                    found.append(entry)
    stdout.write(json.dumps(found).encode())
    return {}


def print_of(status):
    """Another one whenever the file is: nobody in here can set the time of the last change to it."""
    return f'{status.st_ino} {status.st_size} {status.st_mtime_ns} {status.st_ctime_ns} {status.st_mode}'


def pack(request):
    """A tar.gz of these entries; one that has a text is not there and made of it."""
    import gzip, io, tarfile

    with gzip.GzipFile(fileobj=stdout, mode='wb', compresslevel=1, mtime=0) as zipped:
        with tarfile.open(fileobj=zipped, mode='w|', format=tarfile.GNU_FORMAT) as tar:
            for entry in request['entries']:
                header = tarfile.TarInfo(entry['path'].lstrip('/'))
                if 'text' in entry:
                    text = entry['text'].encode()
                    header.size = len(text)
                    tar.addfile(header, io.BytesIO(text))
                    continue
                status = os.lstat(entry['path'])
                header.mode, header.mtime = stat.S_IMODE(status.st_mode), int(status.st_mtime)
                if stat.S_ISDIR(status.st_mode):
                    header.type = tarfile.DIRTYPE
                    tar.addfile(header)
                    continue
                header.size = status.st_size
                with open(entry['path'], 'rb') as file:
                    tar.addfile(header, file)
    return {}


def answer():
    try:
        return globals()[sys.argv[1]](json.loads(read_frame()))
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            return {'full': True}
        return {'problem': f'{error.strerror}: {error.filename}'}
    except EOFError as error:
        return {'problem': str(error)}


line = json.dumps(answer())
stdout.flush()
sys.stderr.write(line)
