import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { pack } from 'tar-stream';
import { afterEach, describe, expect, test } from 'vitest';
import {
  type ExecOptions,
  type ExecResult,
  type LeftOutFile,
  type Sandbox,
  SandboxFullError,
  type SandboxProvider,
} from '../../src/sandbox/sandbox.ts';

export interface SandboxBackend {
  name: string;
  /** With little memory, a command that eats some is soon ended. */
  createProvider(options: {
    maxBytes: number;
    memoryMb?: number;
  }): SandboxProvider | Promise<SandboxProvider>;
}

const MIB = 1024 * 1024;
/** Of an archive in which nothing is left out. */
const ALL = Number.MAX_SAFE_INTEGER;
const FOLDERS = ['/tmp/_out', '/tmp/data'];

export function sandboxContract(backend: SandboxBackend): void {
  describe(`sandbox: ${backend.name}`, () => {
    const opened: Sandbox[] = [];
    afterEach(async () => {
      await Promise.all(opened.splice(0).map((sandbox) => sandbox.close()));
    });

    async function open(options: { maxBytes?: number; memoryMb?: number } = {}): Promise<Sandbox> {
      const provider = await backend.createProvider({ maxBytes: 64 * MIB, ...options });
      const sandbox = await provider.create({ sessionId: 's', jobId: 'j', openLastSaved: async () => null });
      opened.push(sandbox);
      return sandbox;
    }

    describe('a command', () => {
      test('has its output, its errors and its exit code apart', async () => {
        const sandbox = await open();
        expect(await exec(sandbox, 'echo out; echo err >&2; exit 3')).toEqual({
          exitCode: 3,
          stdout: 'out\n',
          stderr: 'err\n',
          ending: 'exited',
          truncated: false,
        });
      });

      test('starts in /tmp, where _out and data are', async () => {
        const sandbox = await open();
        expect((await exec(sandbox, 'pwd; ls')).stdout).toBe('/tmp\n_out\ndata\n');
      });

      test('that can not be parsed or found fails and says so', async () => {
        const sandbox = await open();
        const [broken, unknown] = [await exec(sandbox, 'if then'), await exec(sandbox, 'no-such-command')];
        expect(broken).toMatchObject({ exitCode: 2, stderr: expect.stringMatching(/syntax error/i) });
        expect(unknown).toMatchObject({ exitCode: 127, stderr: expect.stringContaining('no-such-command') });
      });

      test.each([
        ['grep -c ERROR data/job.log', '500\n'],
        ["awk '/ERROR/ {sum += $2} END {print sum}' data/job.log", '12475000\n'],
        ["sed -n '101s/.*\\(ERROR\\).*/\\1/p' data/job.log", 'ERROR\n'],
        ['grep ERROR data/job.log | sort -r | head -n 1 | cut -d" " -f2', '9900\n'],
        ['tail -n 1 data/job.log | tr a-z A-Z | cut -c1-10', 'LINE 49999\n'],
        ['tar czf - data | tar tzf - | grep job', 'data/job.log\n'],
        ['gzip -c data/job.log | zcat | wc -c', '5400000\n'],
      ])('reads a log of 5 MB: %s', async (command, expected) => {
        const sandbox = await open();
        await sandbox.writeFile('/tmp/data/job.log', bigLog());
        expect(await exec(sandbox, command)).toMatchObject({ exitCode: 0, stdout: expected });
      });

      test('reads JSON with jq', async () => {
        const sandbox = await open();
        await sandbox.writeFile(
          '/tmp/data/jobs.json',
          JSON.stringify([
            { id: 1, ok: true },
            { id: 2, ok: false },
          ]),
        );
        const result = await exec(sandbox, "jq -r '.[] | select(.ok | not) | .id' data/jobs.json");
        expect(result).toMatchObject({ exitCode: 0, stdout: '2\n' });
      });

      test('leaves its files, their modes, links and folders to the next one', async () => {
        const sandbox = await open();
        await exec(
          sandbox,
          'mkdir -p a/b; echo 1 > a/b/c; ln -s a/b l; echo "echo ran" > s.sh; chmod 755 s.sh',
        );
        await exec(sandbox, 'echo 2 >> a/b/c; mv s.sh a/t.sh; echo 3 > l/d');
        expect((await exec(sandbox, 'cat a/b/c a/b/d l/d; ./a/t.sh; ls')).stdout).toBe(
          '1\n2\n3\n3\nran\n_out\na\ndata\nl\n',
        );
      });

      test('leaves nothing of its shell to the next one', async () => {
        const sandbox = await open();
        await exec(sandbox, 'cd /tmp/data; x=1; f() { echo f; }; export x');
        expect((await exec(sandbox, 'pwd; echo "x=$x"; f')).stdout).toBe('/tmp\nx=\n');
      });

      test('removes files for good', async () => {
        const sandbox = await open();
        await sandbox.writeFile('/tmp/data/deep/file', 'x');
        await exec(sandbox, 'rm -r data');
        expect(await sandbox.readFile('/tmp/data/deep/file')).toBeNull();
        expect((await exec(sandbox, 'ls')).stdout).toBe('_out\n');
      });

      test('waits for the one before it', async () => {
        const sandbox = await open();
        const results = await Promise.all([1, 2, 3].map((n) => exec(sandbox, `cat n; echo ${n} >> n`)));
        expect(results.map((result) => result.stdout)).toEqual(['', '1\n', '1\n2\n']);
      });

      test.each([
        ['never ends', 'while true; do :; done'],
        ['never pauses', "awk 'BEGIN { while (1) {} }'"],
        ['sleeps', 'sleep 60'],
      ])('that %s is ended in time, and all it had done to files until then is kept', async (_, forever) => {
        const sandbox = await open();
        await exec(sandbox, 'mkdir old; echo 1 > old/from; echo 2 > old/gone; echo 3 > log');
        const changes =
          'echo 4 >> log; mv old/from to; rm old/gone; mkdir -p new/folder; ln -s to link; cp log copy; chmod 700 copy';
        const result = await exec(sandbox, `${changes}; echo 5 > a; echo 6 > a; ${forever}`, {
          timeoutMs: 2500,
        });
        expect(result).toMatchObject({
          exitCode: 124,
          ending: 'timed-out',
          stderr: expect.stringContaining('2500 ms'),
        });
        expect(await sandbox.list('/tmp')).toEqual(
          ['_out', 'a', 'copy', 'data', 'link', 'log', 'new', 'old', 'to'].sort(),
        );
        expect((await sandbox.readFile('/tmp/a'))?.toString()).toBe('6\n');
        expect(await exec(sandbox, 'cat a log link copy; ls old; stat -c %a copy; ls new')).toMatchObject({
          exitCode: 0,
          stdout: '6\n3\n4\n1\n3\n4\n700\nfolder\n',
        });
      });

      test('that is ended has kept every line of a log it had written by then', async () => {
        const sandbox = await open();
        const lines = 'for i in $(seq 500); do echo $i >> log; done; while true; do :; done';
        expect(await exec(sandbox, lines, { timeoutMs: 3000 })).toMatchObject({ ending: 'timed-out' });
        expect((await exec(sandbox, 'wc -l < log; tail -n 1 log')).stdout).toMatch(/^\s*500\n500\n$/);
      });

      test('that eats memory fails, and the next one finds its files and those from before', async () => {
        const sandbox = await open({ memoryMb: 64 });
        await exec(sandbox, 'echo kept > before');
        const eat = `awk 'BEGIN { while (1) a[i++] = sprintf("%2000d", i) }'`;
        const result = await exec(sandbox, `echo too > until; ${eat}`);
        expect(result).toMatchObject({
          exitCode: 137,
          ending: 'out-of-memory',
          stderr: expect.stringContaining('memory'),
        });
        expect(await exec(sandbox, 'cat before until')).toMatchObject({ exitCode: 0, stdout: 'kept\ntoo\n' });
      });

      test.each([
        ['a string that doubles', 's=x; while true; do s="$s$s"; done'],
        ['a function that calls itself', 'f() { f; }; f'],
      ])('with %s fails and harms nobody', async (_, command) => {
        const sandbox = await open();
        expect((await exec(sandbox, command)).exitCode).not.toBe(0);
        expect(await exec(sandbox, 'echo fine')).toMatchObject({ exitCode: 0, stdout: 'fine\n' });
      });

      test('is ended by an abort, with its reason, and the next one finds its files', async () => {
        const sandbox = await open();
        await exec(sandbox, 'echo kept > before');
        const controller = new AbortController();
        const running = exec(sandbox, 'echo too > until; while true; do :; done', {
          signal: controller.signal,
        });
        setTimeout(() => controller.abort(new Error('no longer wanted')), 1000);
        await expect(running).rejects.toThrow('no longer wanted');
        expect(await exec(sandbox, 'cat before until')).toMatchObject({ exitCode: 0, stdout: 'kept\ntoo\n' });
      });

      test('does not start when it is aborted already', async () => {
        const sandbox = await open();
        const running = exec(sandbox, 'echo x > started', {
          signal: AbortSignal.abort(new Error('too late')),
        });
        await expect(running).rejects.toThrow('too late');
        expect(await sandbox.readFile('/tmp/started')).toBeNull();
      });

      test('has each stream cut at the cap, never within a character', async () => {
        const sandbox = await open();
        const result = await exec(sandbox, 'echo äöü; echo 123456789 >&2', { maxOutputBytes: 5 });
        expect(result).toMatchObject({ exitCode: 0, stdout: 'äö', stderr: '12345', truncated: true });
      });

      test('that prints bytes which are no text leaves something for each of them', async () => {
        const sandbox = await open();
        const { stdout } = await exec(sandbox, "printf 'a\\211\\000z\\377'");
        expect([...stdout].map((character) => character.codePointAt(0))).toEqual([
          0x61,
          expect.toBeOneOf([0x89, 0xfffd]),
          0,
          0x7a,
          expect.toBeOneOf([0xff, 0xfffd]),
        ]);
      });

      test('with output of just the cap is not cut', async () => {
        const sandbox = await open();
        const result = await exec(sandbox, 'printf äö', { maxOutputBytes: 4 });
        expect(result).toMatchObject({ stdout: 'äö', truncated: false });
      });

      test('may write what it likes to /dev/null', async () => {
        const sandbox = await open({ maxBytes: 6 * MIB });
        await sandbox.writeFile('/tmp/data/job.log', bigLog());
        const result = await exec(
          sandbox,
          'cat data/job.log > /dev/null; cat data/job.log >> /dev/null; wc -c < /dev/null',
        );
        expect(result).toMatchObject({ exitCode: 0, stdout: '0\n' });
      });

      test('that runs out of room fails and says so, and the next one works', async () => {
        const sandbox = await open({ maxBytes: MIB });
        await sandbox.writeFile('/tmp/data/half', 'x'.repeat(MIB / 2));
        const result = await exec(sandbox, 'cat data/half data/half data/half > data/all');
        expect(result.exitCode).not.toBe(0);
        expect(result.stderr).toMatch(/full|no space/i);
        const next = await exec(
          sandbox,
          'rm -f data/all; echo fits > data/note; cat data/note; wc -c < data/half',
        );
        expect(next).toMatchObject({ exitCode: 0, stdout: `fits\n${MIB / 2}\n` });
      });
    });

    describe('from the host', () => {
      test('no file is seen', async () => {
        const sandbox = await open();
        const paths = [import.meta.filename, process.execPath, '/etc/shadow'];
        for (const path of paths) expect((await exec(sandbox, `cat ${path}`)).exitCode, path).not.toBe(0);
      });

      test('no variable is seen', async () => {
        process.env.HUMMINGBIRD_CONTRACT_SECRET = 'visible-to-the-host-only';
        try {
          const sandbox = await open();
          const result = await exec(
            sandbox,
            'env; set; echo $HUMMINGBIRD_CONTRACT_SECRET; cat /proc/*/environ',
          );
          expect(result.stdout).toContain('PATH=');
          expect(result.stdout).not.toContain('visible-to-the-host-only');
        } finally {
          delete process.env.HUMMINGBIRD_CONTRACT_SECRET;
        }
      });

      test('no network is reached', async () => {
        let connections = 0;
        const server = createServer(() => {
          connections += 1;
        }).listen(0, '127.0.0.1');
        await once(server, 'listening');
        const { port } = server.address() as AddressInfo;
        const sandbox = await open();
        const commands = [
          `curl -m 2 http://127.0.0.1:${port}/`,
          `wget -T 2 http://127.0.0.1:${port}/`,
          `nc -w 2 127.0.0.1 ${port}`,
          `bash -c 'exec 3<>/dev/tcp/127.0.0.1/${port}'`,
          `python3 -c 'import socket; socket.create_connection(("127.0.0.1", ${port}), 2)'`,
        ];
        for (const command of commands) await exec(sandbox, command);
        server.close();
        expect(connections).toBe(0);
      });

      test('and from another sandbox no file is seen either', async () => {
        const [one, other] = [await open(), await open()];
        await one.writeFile('/tmp/data/mine', 'x');
        expect(await other.readFile('/tmp/data/mine')).toBeNull();
        expect((await exec(other, 'cat data/mine')).exitCode).not.toBe(0);
      });
    });

    describe('a file', () => {
      test.each([
        ['text', 'grüße\n', 8],
        ['bytes', Uint8Array.of(0, 255, 10, 128), 4],
        ['nothing', '', 0],
      ])('written as %s is read back', async (_, content, size) => {
        const sandbox = await open();
        expect(await sandbox.writeFile('/tmp/new/folder/file', content)).toBe(size);
        expect(await sandbox.readFile('/tmp/new/folder/file')).toEqual(Buffer.from(content));
        expect((await exec(sandbox, 'wc -c < new/folder/file')).stdout.trim()).toBe(String(size));
      });

      test('written from a stream is whole', async () => {
        const sandbox = await open();
        const chunks = Array.from({ length: 100 }, (_, index) => Buffer.alloc(10_000, index));
        expect(await sandbox.writeFile('/tmp/data/f', Readable.from(chunks))).toBe(1_000_000);
        expect(Buffer.concat(chunks).equals((await sandbox.readFile('/tmp/data/f')) ?? Buffer.of())).toBe(
          true,
        );
      });

      test('is read as a stream, whole or not to its end', async () => {
        const sandbox = await open();
        const content = Buffer.concat(Array.from({ length: 100 }, (_, index) => Buffer.alloc(10_000, index)));
        await sandbox.writeFile('/tmp/data/f', content);
        expect((await buffer(sandbox.streamFile('/tmp/data/f'))).equals(content)).toBe(true);
        for await (const _start of sandbox.streamFile('/tmp/data/f')) break;
        expect((await exec(sandbox, 'wc -c < data/f')).stdout.trim()).toBe('1000000');
        expect(await buffer(sandbox.streamFile('/tmp/data/none'))).toHaveLength(0);
      });

      test('whose stream fails is not written', async () => {
        const sandbox = await open();
        const broken = Readable.from(failingAfter('some', new Error('connection lost')));
        await expect(sandbox.writeFile('/tmp/data/f', broken)).rejects.toThrow('connection lost');
        expect(await sandbox.readFile('/tmp/data/f')).toBeNull();
      });

      test('too large is refused while it is read, and the old one stays', async () => {
        const sandbox = await open({ maxBytes: MIB });
        await sandbox.writeFile('/tmp/data/f', 'old');
        let given = 0;
        const endless = Readable.from(
          (function* () {
            for (; ; given += 1) yield Buffer.alloc(64 * 1024);
          })(),
          { highWaterMark: 1 },
        );
        const closed = new Promise((resolve) => endless.once('close', resolve));
        await expect(sandbox.writeFile('/tmp/data/f', endless)).rejects.toThrow(SandboxFullError);
        await closed;
        expect(given).toBeLessThan(32);
        expect((await sandbox.readFile('/tmp/data/f'))?.toString()).toBe('old');
      });

      test('replaces another', async () => {
        const sandbox = await open();
        await sandbox.writeFile('/tmp/data/f', 'a longer one');
        await sandbox.writeFile('/tmp/data/f', 'short');
        expect((await sandbox.readFile('/tmp/data/f'))?.toString()).toBe('short');
      });

      test('with a relative path is refused', async () => {
        const sandbox = await open();
        await expect(sandbox.writeFile('data/f', 'x')).rejects.toThrow('absolute');
      });

      test('is the same by every way to write its path', async () => {
        const sandbox = await open();
        await sandbox.writeFile('/tmp/../../tmp//data/./f', 'x');
        expect(await sandbox.list('/tmp/data/')).toEqual(['f']);
        expect((await sandbox.readFile('/tmp/data/f'))?.toString()).toBe('x');
      });

      test('written while a command runs is kept', async () => {
        const sandbox = await open();
        const running = exec(sandbox, 'sleep 0.2; echo done > data/by-command');
        await sandbox.writeFile('/tmp/data/by-host', 'x');
        await running;
        expect(await sandbox.list('/tmp/data')).toEqual(['by-command', 'by-host']);
      });

      test('is listed by name, and what is not there is empty', async () => {
        const sandbox = await open();
        for (const name of ['b', 'a', 'c/d']) await sandbox.writeFile(`/tmp/data/${name}`, 'x');
        expect(await sandbox.list('/tmp/data')).toEqual(['a', 'b', 'c']);
        expect(await sandbox.list('/tmp/none')).toEqual([]);
        expect(await sandbox.readFile('/tmp/data')).toBeNull();
      });
    });

    describe('an archive', () => {
      test('brings everything in its folders to another sandbox', async () => {
        const [one, other] = [await open(), await open()];
        const large = Buffer.alloc(3 * MIB, 'large file ');
        const files: [string, Buffer][] = [
          ['/tmp/_out/1.txt', Buffer.from('one\n')],
          ['/tmp/data/empty', Buffer.alloc(0)],
          ['/tmp/data/große Datei 日本 😀.log', Buffer.from('unicode')],
          [`/tmp/data/${'deep/'.repeat(60)}file`, Buffer.from('long path')],
          ['/tmp/data/large', large],
        ];
        for (const [path, content] of files) await one.writeFile(path, content);
        await one.writeFile('/tmp/elsewhere', 'not asked for');
        await exec(one, 'mkdir data/empty-folder; chmod 750 _out/1.txt');

        await other.restore(one.archive(FOLDERS, ALL));

        for (const [path, content] of files) {
          expect(content.equals((await other.readFile(path)) ?? Buffer.from('missing')), path).toBe(true);
        }
        expect(
          (await exec(other, 'ls; stat -c %a _out/1.txt; cat _out/1.txt; ls -d data/empty-folder')).stdout,
        ).toBe('_out\ndata\n750\none\ndata/empty-folder\n');
      });

      test('leaves out the largest files, and names them when it comes back', async () => {
        const [one, other, third] = [await open(), await open(), await open()];
        const sizes = {
          '/tmp/_out/1.txt': 10,
          '/tmp/_out/2.txt': 4000,
          '/tmp/data/a': 3000,
          '/tmp/data/b': 20,
        };
        for (const [path, size] of Object.entries(sizes)) await one.writeFile(path, 'x'.repeat(size));

        const leftOut = await other.restore(one.archive(FOLDERS, 1000));
        expect(leftOut.toSorted()).toEqual(['/tmp/_out/2.txt', '/tmp/data/a']);
        expect(await other.list('/tmp/_out')).toEqual(['1.txt', '2.txt.left-out']);
        expect((await other.readFile('/tmp/data/a.left-out'))?.toString()).toContain('3000 bytes');

        await other.writeFile('/tmp/data/a', 'fetched again');
        expect(await third.restore(other.archive(FOLDERS, 1000))).toEqual(['/tmp/_out/2.txt']);
        expect(await third.list('/tmp/data')).toEqual(['a', 'b']);
      });

      test('tells what is left out of it, with the size, and what an earlier one had left out', async () => {
        const [one, other] = [await open(), await open()];
        const sizes = { '/tmp/data/a': 4000, '/tmp/data/b': 20, '/tmp/_out/1.txt': 3000 };
        for (const [path, size] of Object.entries(sizes)) await one.writeFile(path, 'x'.repeat(size));

        const first = await archiveAndListen(one, 1000);
        await other.restore(Readable.from([first.archive]));
        const second = await archiveAndListen(other, 1000);
        for (const path of ['/tmp/data/a', '/tmp/_out/1.txt']) await other.writeFile(path, 'fetched again');
        const third = await archiveAndListen(other, 1000);

        expect(first.heard).toEqual([
          [
            { path: '/tmp/_out/1.txt', bytes: 3000 },
            { path: '/tmp/data/a', bytes: 4000 },
          ],
        ]);
        expect(second.heard).toEqual([
          [
            { path: '/tmp/_out/1.txt', bytes: null },
            { path: '/tmp/data/a', bytes: null },
          ],
        ]);
        expect(third.heard).toEqual([[]]);
      });

      test('has no notes of notes, nor for files that are smaller than a note would be', async () => {
        const [one, other, third] = [await open(), await open(), await open()];
        await one.writeFile('/tmp/data/large', 'x'.repeat(4000));
        for (let at = 0; at < 5; at += 1) await one.writeFile(`/tmp/data/small-${at}`, 'x'.repeat(60));
        await other.restore(one.archive(FOLDERS, 450));
        await other.writeFile('/tmp/data/middle', 'x'.repeat(300));

        const leftOut = await third.restore(other.archive(FOLDERS, 600));

        expect(leftOut.toSorted()).toEqual(['/tmp/data/large', '/tmp/data/middle']);
        expect(await third.list('/tmp/data')).toEqual([
          'large.left-out',
          'middle.left-out',
          ...[0, 1, 2, 3, 4].map((at) => `small-${at}`),
        ]);
      });

      test('keeps a file that only has the name of a note', async () => {
        const [one, other] = [await open(), await open()];
        await one.writeFile('/tmp/data/mine.left-out', 'what I left out');
        await one.writeFile('/tmp/data/mine', 'and what not');

        const { archive, heard } = await archiveAndListen(one, 1000);

        expect(await other.restore(Readable.from([archive]))).toEqual([]);
        expect(heard).toEqual([[]]);
        expect(String(await other.readFile('/tmp/data/mine.left-out'))).toBe('what I left out');
      });

      test('tells in one note how many files are left out when their notes have no room', async () => {
        const [one, other, third] = [await open(), await open(), await open()];
        await one.writeFile('/tmp/data/large', 'x'.repeat(4000));
        await exec(one, 'for i in $(seq 100); do printf %050d $i > data/$i; done');

        const { archive, heard } = await archiveAndListen(one, 1000);
        const told = await other.restore(Readable.from([archive]));

        const kept = (await other.list('/tmp/data')).length;
        expect(kept).toBeGreaterThan(15);
        expect(kept).toBeLessThan(20);
        expect(told).toEqual([`${101 - kept} files`]);
        expect(heard).toEqual([[{ path: `${101 - kept} files`, bytes: null }]]);
        expect(String(await other.readFile('/tmp/_out/many-files.left-out'))).toContain(
          `${101 - kept} files`,
        );
        expect(await third.restore(other.archive(FOLDERS, 1000))).toEqual(told);
        expect(await third.restore(other.archive(FOLDERS, 200))).toEqual(['99 files']);
      });

      test('of folders that are not there is empty', async () => {
        const [one, other] = [await open(), await open()];
        await other.restore(one.archive(['/tmp/none'], ALL));
        expect(await other.list('/tmp')).toEqual(['_out', 'data']);
      });

      test('names its files relative to the root', async () => {
        const sandbox = await open();
        await sandbox.writeFile('/tmp/data/f', 'x');
        await sandbox.writeFile('/tmp/a.tgz', await buffer(sandbox.archive(['/tmp/data'], ALL)));
        expect((await exec(sandbox, 'tar tzf a.tgz | grep -v /$')).stdout).toContain('tmp/data/f\n');
      });

      test.each([
        ['an absolute path', [{ name: '/tmp/data/evil' }]],
        ['a path that leads outside', [{ name: 'tmp/../../evil' }]],
        ['a path that leads up and down', [{ name: 'tmp/data/../../tmp/data/evil' }]],
        ['an absolute path in a second header', [{ name: 'tmp/x', pax: { path: '/tmp/data/evil' } }]],
        ['a path elsewhere', [{ name: 'etc/passwd' }]],
        ['a file in the place of /tmp', [{ name: 'tmp' }]],
        ['a symbolic link', [{ name: 'tmp/data/evil', type: 'symlink' as const, linkname: '/etc/passwd' }]],
        ['a hard link', [{ name: 'tmp/data/evil', type: 'link' as const, linkname: 'tmp/data/good' }]],
        ['a device', [{ name: 'tmp/data/evil', type: 'character-device' as const }]],
        ['a pipe', [{ name: 'tmp/data/evil', type: 'fifo' as const }]],
        ['a file below a file', [{ name: 'tmp/data/evil' }, { name: 'tmp/data/evil/below' }]],
        ['a file in the place of a folder', [{ name: 'tmp/data/evil/below' }, { name: 'tmp/data/evil' }]],
        [
          'a folder in the place of a file',
          [{ name: 'tmp/data/evil' }, { name: 'tmp/data/evil', type: 'directory' as const }],
        ],
      ])('with %s is refused whole', async (_, entries) => {
        const sandbox = await open();
        const archive = await tarGz([{ name: 'tmp/data/good' }, ...entries]);
        await expect(sandbox.restore(Readable.from([archive]))).rejects.toThrow(/refused/);
        expect(await sandbox.list('/tmp/data')).toEqual([]);
      });

      test('that is a bomb is refused whole, before it is held', async () => {
        const sandbox = await open({ maxBytes: MIB });
        const content = Buffer.alloc(300 * MIB);
        const bomb = gzipSync(Buffer.concat([tarHeader('tmp/data/bomb', content.length), content]), {
          level: 1,
        });
        await expect(sandbox.restore(Readable.from([bomb]))).rejects.toThrow(SandboxFullError);
        expect(await sandbox.list('/tmp/data')).toEqual([]);
      });

      test('with more files than may be is refused whole', async () => {
        const sandbox = await open();
        const headers = Array.from({ length: 100_000 }, (_, index) => tarHeader(`tmp/data/${index}`, 0));
        const archive = gzipSync(Buffer.concat([...headers, Buffer.alloc(1024)]), { level: 1 });
        await expect(sandbox.restore(Readable.from([archive]))).rejects.toThrow(SandboxFullError);
        expect(await sandbox.list('/tmp/data')).toEqual([]);
      });

      test.each<[string, (good: Buffer) => Buffer]>([
        ['cut off', (good) => good.subarray(0, good.length / 2)],
        ['no gzip', () => Buffer.from('plain text')],
        ['no tar', () => gzipSync('x'.repeat(2000))],
        ['empty', () => Buffer.alloc(0)],
        ['a cut-off tar', () => gzipSync(tarHeader('tmp/data/f', 4096))],
        ['changed on the way', (good) => Buffer.from(good).fill(0xaa, 200, 250)],
      ])('that is %s is an error that says so, and nothing of it is there', async (_, spoil) => {
        const [one, other] = [await open(), await open()];
        await one.writeFile(
          '/tmp/data/f',
          Buffer.from(Array.from({ length: 5000 }, (_, n) => (n * n) % 251)),
        );
        const spoiled = spoil(await buffer(one.archive(['/tmp/data'], ALL)));
        await expect(other.restore(Readable.from([spoiled]))).rejects.toThrow(/broken/);
        expect(await other.list('/tmp/data')).toEqual([]);
      });

      test('whose stream fails gives the error of the stream', async () => {
        const sandbox = await open();
        const good = await tarGz([{ name: 'tmp/data/good' }]);
        const broken = Readable.from(failingAfter(good.subarray(0, 40), new Error('connection lost')));
        await expect(sandbox.restore(broken)).rejects.toThrow('connection lost');
        expect(await sandbox.list('/tmp/data')).toEqual([]);
      });
    });

    describe('closing', () => {
      test('ends a command that runs', async () => {
        const sandbox = await open();
        await exec(sandbox, 'true');
        const running = expect(exec(sandbox, 'while true; do :; done')).rejects.toThrow('closed');
        await sandbox.close();
        await running;
      });

      test('ends a command that has only just been asked for', async () => {
        const sandbox = await open();
        const running = expect(exec(sandbox, 'while true; do :; done')).rejects.toThrow('closed');
        await sandbox.close();
        await running;
      });

      test('twice is once, and afterwards nothing runs', async () => {
        const sandbox = await open();
        await sandbox.close();
        await sandbox.close();
        await expect(exec(sandbox, 'echo x')).rejects.toThrow('closed');
        await expect(sandbox.writeFile('/tmp/f', 'x')).rejects.toThrow('closed');
      });
    });
  });
}

function exec(sandbox: Sandbox, command: string, options: Partial<ExecOptions> = {}): Promise<ExecResult> {
  const signal = new AbortController().signal;
  return sandbox.exec(command, { timeoutMs: 20_000, maxOutputBytes: 100_000, signal, ...options });
}

async function archiveAndListen(sandbox: Sandbox, maxBytes: number) {
  const heard: (readonly LeftOutFile[])[] = [];
  const archive = await buffer(sandbox.archive(FOLDERS, maxBytes, (files) => heard.push(files)));
  return { archive, heard };
}

/** 50 000 lines of 108 bytes; every hundredth is an error. */
function bigLog(): string {
  const lines = Array.from({ length: 50_000 }, (_, index) =>
    `line ${index} ${index % 100 === 0 ? 'ERROR' : 'info'} `.padEnd(107, '.'),
  );
  return `${lines.join('\n')}\n`;
}

function* failingAfter(first: string | Buffer, error: Error): Generator<string | Buffer> {
  yield first;
  throw error;
}

type TarEntry = {
  name: string;
  type?: 'symlink' | 'link' | 'character-device' | 'fifo' | 'directory';
  linkname?: string;
  pax?: Record<string, string>;
};

async function tarGz(entries: readonly TarEntry[]): Promise<Buffer> {
  const tar = pack();
  for (const entry of entries) tar.entry(entry, entry.type ? '' : 'content');
  tar.finalize();
  return gzipSync(await buffer(tar));
}

function tarHeader(name: string, size: number): Buffer {
  const header = Buffer.alloc(512);
  header.write(name, 0);
  header.write('0000644\0', 100);
  header.write('0000000\0', 108);
  header.write('0000000\0', 116);
  header.write(`${size.toString(8).padStart(11, '0')}\0`, 124);
  header.write('00000000000\0', 136);
  header.write('        ', 148);
  header.write('0', 156);
  header.write('ustar\x0000', 257);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return header;
}
