import { readFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  connect,
  containersOf,
  exec,
  MIB,
  openProvider,
  openSandbox,
  PURPOSE,
} from '../../services/docker-sandboxes.ts';
import { dockerGap, ENGINE_MS, sharedDocker, titleWithDocker } from '../../services/shared-docker.ts';

describe.skipIf(dockerGap !== null)(titleWithDocker('a container'), () => {
  beforeAll(sharedDocker, ENGINE_MS);

  test('has every limit set, and nothing of the host', async () => {
    await openSandbox({ sessionId: 'limits' });
    const engine = await connect();
    const [container] = await containersOf(engine, 'limits');
    const { Config, HostConfig, Mounts } = await engine.getContainer(container?.Id ?? '').inspect();
    expect(Config).toMatchObject({ User: '10001:10001', NetworkDisabled: true });
    expect(HostConfig).toMatchObject({
      NetworkMode: 'none',
      ReadonlyRootfs: true,
      Privileged: false,
      CapDrop: ['ALL'],
      CapAdd: null,
      SecurityOpt: ['no-new-privileges:true'],
      Binds: null,
      Devices: null,
      IpcMode: 'none',
      PidMode: '',
      UsernsMode: '',
      Memory: 256 * MIB,
      MemorySwap: 256 * MIB,
      NanoCpus: 1e9,
      PidsLimit: 64,
      Ulimits: [
        { Name: 'nofile', Soft: 256, Hard: 256 },
        { Name: 'core', Soft: 0, Hard: 0 },
      ],
      Tmpfs: { '/tmp': expect.stringContaining(`size=${64 * MIB},`) },
      LogConfig: { Type: 'none' },
    });
    expect(Mounts).toEqual([]);
  });

  test('runs commands without a privilege', async () => {
    const sandbox = await openSandbox();
    const { stdout } = await exec(sandbox, 'id -u; grep -E "^(Cap|NoNewPrivs|Seccomp:)" /proc/self/status');
    const [uid, ...status] = stdout.trim().split('\n');
    expect(uid).toBe('10001');
    expect(status.map((line) => line.split(/\s+/))).toEqual([
      ...['CapInh:', 'CapPrm:', 'CapEff:', 'CapBnd:', 'CapAmb:'].map((name) => [name, '0000000000000000']),
      ['NoNewPrivs:', '1'],
      ['Seccomp:', '2'],
    ]);
  });

  test('gives commands these variables and no other', async () => {
    const sandbox = await openSandbox();
    const { stdout } = await exec(
      sandbox,
      `cat /proc/1/environ /proc/self/environ | tr '\\0' '\\n' | cut -d= -f1 | sort -u`,
    );
    expect(stdout.trim().split('\n')).toEqual(['HOME', 'HOSTNAME', 'LANG', 'PATH', 'PWD']);
  });

  test('has no network but the way to itself', async () => {
    const sandbox = await openSandbox();
    expect((await exec(sandbox, 'ls /sys/class/net')).stdout).toBe('lo\n');
    const ours = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
    const addresses = [
      '1.1.1.1',
      ...ours.filter(({ internal, family }) => !internal && family === 'IPv4').map(({ address }) => address),
    ];
    for (const address of addresses) {
      const script = `import socket; socket.create_connection(("${address}", 53), 2)`;
      expect(await exec(sandbox, `python3 -c '${script}'`), address).toMatchObject({
        exitCode: 1,
        stderr: expect.stringMatching(/unreachable|not permitted|assign requested address/),
      });
    }
  });

  test.each([
    ['write outside /tmp', 'touch /file || touch /etc/file || touch /usr/file || touch /dev/shm/file'],
    ['write to its own program', 'echo > /proc/1/root/etc/passwd'],
    ['mount', 'mount -t tmpfs none /mnt'],
    ['unmount', 'umount /proc/acpi || umount /tmp'],
    ['become another user', 'setpriv --reuid 0 true || su -c true'],
    ['make a namespace', 'unshare --user --map-root-user true || unshare --mount true'],
    ['make a device', 'mknod /tmp/device b 8 0'],
    ['change the kernel', 'echo 1 > /proc/sys/kernel/panic || echo b > /proc/sysrq-trigger'],
    ['read the memory of the machine', 'head -c 1 /proc/kcore || head -c 1 /dev/mem'],
    ['leave its root', 'chroot / true || nsenter -t 1 -m true'],
    ['change its limits', 'echo max > /sys/fs/cgroup/pids/pids.max || echo max > /sys/fs/cgroup/pids.max'],
    ['find the engine', 'ls /var/run/docker.sock /run/docker.sock /run/podman/podman.sock'],
    ['end process 1', 'kill -9 1; kill -STOP 1; sleep 0.1; ! test -d /proc/1'],
  ])('does not let a command %s', async (_, command) => {
    const sandbox = await openSandbox();
    expect((await exec(sandbox, command)).exitCode).not.toBe(0);
    expect(await exec(sandbox, 'echo fine')).toMatchObject({ exitCode: 0, stdout: 'fine\n' });
  });

  test('has links lead to its own files only, also for who reads and writes from outside', async () => {
    const sandbox = await openSandbox();
    await exec(
      sandbox,
      'ln -s /etc/passwd data/p; ln -s / data/root; ln -s /proc/1/root/etc/hostname data/h',
    );
    expect((await sandbox.readFile('/tmp/data/h'))?.toString()).toBe('sandbox\n');
    const ours = readFileSync('/etc/passwd', 'utf8');
    await expect(sandbox.writeFile('/tmp/data/p', 'evil')).rejects.toThrow('Only files below /tmp');
    await expect(sandbox.writeFile('/tmp/data/root/etc/passwd', 'evil')).rejects.toThrow(
      'Only files below /tmp',
    );
    expect(readFileSync('/etc/passwd', 'utf8')).toBe(ours);
    const other = await openSandbox();
    await other.restore(sandbox.archive(['/tmp/data'], MIB));
    expect(await other.list('/tmp/data')).toEqual([]);
  });

  test('has none of the tools missing', async () => {
    const sandbox = await openSandbox();
    const tools =
      'bash cat grep rg jq yq gawk awk sed python3 diff file tar gzip xz zstd unzip sort uniq find xargs cmp';
    expect(
      await exec(sandbox, `for tool in ${tools}; do command -v $tool > /dev/null || echo $tool; done`),
    ).toMatchObject({ exitCode: 0, stdout: '' });
    expect((await exec(sandbox, `echo 'a: [1, {b: 2}]' | yq '.a[1].b'`)).stdout).toBe('2\n');
  });

  test('carries the job and the session in its name and, if it was started for them, in labels', async () => {
    const engine = await connect();
    const cold = await openProvider();
    const warm = await openProvider({ pool: 1 });
    for (const [provider, sessionId] of [
      [cold, 'cold-session'],
      [warm, 'warm-session'],
    ] as const) {
      const sandbox = await provider.create({ ...PURPOSE, sessionId, jobId: 'job:7' });
      const [container] = await containersOf(engine, sessionId);
      expect(container?.Names[0]).toMatch(new RegExp(`^/hummingbird-${sessionId}-job_7-`));
      expect(container?.Labels['hummingbird.owner']).toContain(`:${process.pid}`);
      if (provider === cold)
        expect(container?.Labels).toMatchObject({
          'hummingbird.job': 'job:7',
          'hummingbird.session': sessionId,
        });
      await sandbox.close();
      expect(await containersOf(engine, sessionId)).toEqual([]);
    }
  });
});
