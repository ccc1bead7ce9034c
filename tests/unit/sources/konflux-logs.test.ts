import { Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { ENDED_WELL, endedBadly, pipelineRun, taskRun } from '../../../src/demo/konflux/objects.ts';
import { createKonfluxScene } from './konflux-scene.ts';

const BUILD = taskRun({
  name: 'cart-build',
  pipelineRun: 'cart-1',
  task: 'build',
  condition: { status: 'False', reason: 'Failed', message: '"step-build" exited with code 2' },
  steps: [
    { name: 'clone', ...ENDED_WELL },
    { name: 'build', ...endedBadly('Error', 2) },
  ],
  status: { sidecars: [{ name: 'docker', container: 'sidecar-docker', ...ENDED_WELL }] },
});
const ARGS = { taskrun: 'cart-build' };

describe('the log of a task run', () => {
  test('is that of all its containers, each under its name and place', async () => {
    const { cluster, ask } = await createKonfluxScene();
    cluster.add(BUILD);
    cluster.setLog('cart-build-pod', 'step-clone', 'cloned ünïcödé ✓\n');
    cluster.setLog('cart-build-pod', 'step-build', 'error: no such file');
    cluster.setLog('cart-build-pod', 'sidecar-docker', 'listening\n');

    expect(await ask('konflux_get_taskrun_log', ARGS)).toBe(
      [
        '===== step-clone (from cluster prod) =====',
        'cloned ünïcödé ✓',
        '===== step-build (from cluster prod) =====',
        'error: no such file',
        '===== sidecar-docker (from cluster prod) =====',
        'listening',
        '',
      ].join('\n'),
    );
    expect(await ask('konflux_get_taskrun_log', { ...ARGS, container: 'step-build' })).toBe(
      '===== step-build (from cluster prod) =====\nerror: no such file\n',
    );
  });

  test('comes from the archive when the pod is gone, container by container', async () => {
    const { cluster, archive, ask } = await createKonfluxScene();
    cluster.add(BUILD);
    archive.setLog('cart-build-pod', 'step-build', 'error: archived\n');

    const log = String(await ask<unknown>('konflux_get_taskrun_log', ARGS));

    expect(log).toContain('===== step-build (from KubeArchive of prod) =====\nerror: archived\n');
    expect(log).toMatch(/===== step-clone: no log \(cluster prod: .* 404.*KubeArchive of prod: .* 404/);
  });

  test.each([
    ['the last', 'step-clone', ['step-build', 'sidecar-docker']],
    ['the first', 'step-build', ['step-clone', 'sidecar-docker']],
  ])('lacks %s of its parts as a named gap when an archive can not be asked', async (_, there, lost) => {
    const { cluster, archive, ask, toolbox } = await createKonfluxScene();
    cluster.add(BUILD);
    cluster.setLog('cart-build-pod', there, 'here\n');
    archive.fail({ match: { path: '/log' }, with: { status: 500 } });

    expect(await ask('konflux_get_taskrun_log', ARGS)).toContain(`===== ${there} (from cluster prod) =====`);

    expect(toolbox.gaps()).toEqual(
      lost.map((name) =>
        expect.stringMatching(new RegExp(`in part: the log of ${name}: KubeArchive of prod: .* 500`)),
      ),
    );
  });

  test('is found by the archive when nobody knows the pod any more', async () => {
    const { cluster, archive, ask } = await createKonfluxScene();
    const steps = [{ name: 'build' }];
    cluster.add(taskRun({ name: 'cart-build', pipelineRun: 'cart-1', task: 'build', steps, pod: null }));
    archive.add(BUILD);
    archive.setLog('cart-build-pod', 'step-build', 'error: archived\n');

    const log = String(await ask<unknown>('konflux_get_taskrun_log', ARGS));

    expect(log).toContain('error: archived');
  });

  test.each([
    ['text', 'error: recorded\n'],
    [
      'lines of base64',
      ['error: ', 'recorded\n']
        .map((part) => `{"result":{"name":"x","data":"${Buffer.from(part).toString('base64')}"}}\n`)
        .join(''),
    ],
  ])('comes from Tekton Results when it is nowhere else, as %s', async (_form, stored) => {
    const { results, ask } = await createKonfluxScene();
    results.add(BUILD);
    results.setLog('uid-cart-1', 'uid-cart-build', stored);

    const log = String(await ask<unknown>('konflux_get_taskrun_log', ARGS));

    expect(log).toMatch(/===== all steps \(from Tekton Results of prod\) =====\nerror: recorded\n$/);
  });

  test('that is lost everywhere is a gap, and the error has the condition', async () => {
    const { cluster, call, toolbox } = await createKonfluxScene();
    cluster.add(BUILD);

    const { result, isError } = await call('konflux_get_taskrun_log', ARGS);

    expect(isError).toBe(true);
    expect(result.error).toContain(
      'cart-build has a log once, which is gone (its condition: Failed, "step-build" exited with code 2)',
    );
    expect(toolbox.gaps()).toEqual(['konflux_get_taskrun_log {"taskrun":"cart-build"}']);
  });

  test('that never was is no gap: the condition says why', async () => {
    const { cluster, call, toolbox } = await createKonfluxScene();
    const condition = { status: 'False', reason: 'TaskRunImagePullFailed', message: 'no such image' };
    cluster.add(taskRun({ name: 'never', pipelineRun: 'cart-1', task: 'build', condition, pod: null }));

    const { result } = await call('konflux_get_taskrun_log', { taskrun: 'never' });

    expect(result.error).toContain('no step of it is known to have started');
    expect(result.error).toContain('TaskRunImagePullFailed, no such image');
    expect(toolbox.gaps()).toEqual([]);
  });

  test('of 100 MB goes into a file to its last byte, with its signs at the end', async () => {
    const { cluster, call, sandbox } = await createKonfluxScene();
    cluster.add(BUILD);
    const line = `${'x'.repeat(99)}\n`;
    const block = Buffer.from(line.repeat(10_000));
    cluster.setLog('cart-build-pod', 'step-build', () =>
      Readable.from(
        (function* () {
          for (let count = 0; count < 100; count += 1) yield block;
          yield Buffer.from('No space left on device\n');
        })(),
      ),
    );

    const request = { tool: 'konflux_get_taskrun_log', args: { ...ARGS, container: 'step-build' } };
    const { result } = await call('fetch_to_sandbox', { ...request, path: '/tmp/data/build.log' });

    expect(Number(result.bytes)).toBeGreaterThan(100_000_000);
    const tail = sandbox.files.get('/tmp/data/build.log')?.subarray(-300).toString() ?? '';
    expect(tail).toContain('No space left on device\n[signs in this log]\n  line 1000002: the disk is full');
  }, 30_000);

  test('that breaks off half way is an error, not half a log', async () => {
    const { cluster, call, toolbox } = await createKonfluxScene();
    cluster.add(BUILD);
    cluster.setLog('cart-build-pod', 'step-build', 'x'.repeat(100_000));
    cluster.fail({ match: { path: '/log' }, with: 'half' });

    const args = { ...ARGS, container: 'step-build' };
    const { result, isError } = await call('konflux_get_taskrun_log', args);

    expect(isError).toBe(true);
    expect(result.error).toMatch(/got no whole answer|terminated|other side closed/);
    expect(toolbox.gaps()).toHaveLength(1);
  });

  test('is ended by an abort on the wire too', async () => {
    const { cluster, call } = await createKonfluxScene();
    cluster.add(BUILD);
    const closed = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    cluster.setLog('cart-build-pod', 'step-build', () => {
      const endless = new Readable({
        read() {
          begun.resolve();
          setImmediate(() => this.push('more\n'));
        },
        destroy(_error, done) {
          closed.resolve();
          done(null);
        },
      });
      return endless;
    });
    const controller = new AbortController();
    const reason = new Error('a newer commit was pushed');

    const running = call('konflux_get_taskrun_log', { ...ARGS, container: 'step-build' }, controller.signal);
    await begun.promise;
    controller.abort(reason);

    await expect(running).rejects.toBe(reason);
    await closed.promise;
  });
});

test('of init containers only those that failed have a part in the log', async () => {
  const { cluster, ask } = await createKonfluxScene();
  const condition = { status: 'False', reason: 'InitContainerFailed', message: 'init' };
  const steps = [{ name: 'build', waiting: { reason: 'PodInitializing' } }];
  cluster.add(
    pipelineRun({ name: 'cart-1' }),
    taskRun({ name: 'cart-build', pipelineRun: 'cart-1', task: 'build', condition, steps }),
    {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'cart-build-pod' },
      status: {
        initContainerStatuses: [
          { name: 'prepare', state: { terminated: { exitCode: 0 } } },
          { name: 'place-scripts', state: { terminated: { exitCode: 1 } } },
        ],
      },
    },
  );
  cluster.setLog('cart-build-pod', 'prepare', 'fine\n');
  cluster.setLog('cart-build-pod', 'place-scripts', 'cannot write\n');

  const log = String(await ask<unknown>('konflux_get_taskrun_log', { taskrun: 'cart-build' }));

  expect(log).toContain('===== place-scripts (from cluster prod) =====\ncannot write\n');
  expect(log).not.toContain('fine');
});
