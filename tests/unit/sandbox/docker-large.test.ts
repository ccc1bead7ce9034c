import { Readable } from 'node:stream';
import { beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import type { Message } from '../../../src/agent/messages.ts';
import { openSessionFiles } from '../../../src/jobs/session-files.ts';
import { openS3Store } from '../../../src/session/s3-store.ts';
import { exec, MIB, openProvider, openSandbox } from '../../services/docker-sandboxes.ts';
import { createToolbox } from '../../services/redactor.ts';
import { s3Options } from '../../services/s3.ts';
import { dockerGap, ENGINE_MS, sharedDocker, titleWithDocker } from '../../services/shared-docker.ts';
import { call } from '../tools/calling.ts';
import { createFakeSource, fakeTool, text } from '../tools/fake-source.ts';

const SIZE = 200 * MIB;

describe.skipIf(dockerGap !== null)(titleWithDocker('200 MB'), () => {
  beforeAll(sharedDocker, ENGINE_MS);

  test('go from a source into the sandbox, into the session and back without being held', async () => {
    const provider = await openProvider({ maxBytes: 256 * MIB, memoryMb: 768 });
    const [one, other] = [await openSandbox({}, provider), await openSandbox({}, provider)];
    const store = openS3Store(s3Options(inject('s3Url')));
    const log = fakeTool('farm_get_log', z.strictObject({}), () => text(toLog(SIZE)));
    const toolbox = createToolbox({ sandbox: one, sources: [createFakeSource('farm', [log])] });
    const memory = watchMemory();

    const path = '/tmp/data/large.log';
    const { result } = await call(toolbox, 'fetch_to_sandbox', { tool: 'farm_get_log', path });
    expect(result).toEqual({ saved_to: path, bytes: SIZE });
    const messages: Message[] = [{ role: 'user', content: 'hello' }];
    const files = [await store.saveFiles('session', one.archive(['/tmp/data'], SIZE))];
    await exec(one, 'echo more > /tmp/data/small.log');
    const change = await one.findChanges(['/tmp/data'], 2 * SIZE, new Map());
    if (change.pack) files.push(await store.saveFiles('session', change.pack()));
    await store.saveContext('session', { version: 1, messages, files });
    const archive = await openSessionFiles(await store.load('session'));
    await other.restore(archive ?? Readable.from([]));

    expect(memory.growth()).toBeLessThan(100 * MIB);
    expect(await exec(other, `stat -c %s ${path}; cksum < ${path}`)).toEqual(
      await exec(one, `stat -c %s ${path}; cksum < ${path}`),
    );
  }, 120_000);
});

/** Not all zeros: it has to be packed and unpacked. */
function toLog(bytes: number): Readable {
  const lines = Array.from({ length: 1_000 }, (_, n) => `${n * n} ${Math.sin(n)} something happened\n`).join(
    '',
  );
  const chunk = Buffer.from(lines.padEnd(64 * 1024, '.').slice(0, 64 * 1024));
  return Readable.from(
    (function* () {
      for (let left = bytes; left > 0; left -= chunk.length) yield Buffer.from(chunk.subarray(0, left));
    })(),
    { objectMode: false },
  );
}

/** Of this process, in which the service's side runs. */
function watchMemory() {
  const before = process.memoryUsage().rss;
  let most = before;
  const timer = setInterval(() => {
    most = Math.max(most, process.memoryUsage().rss);
  }, 10);
  onTestFinished(() => clearInterval(timer));
  return { growth: () => most - before };
}
