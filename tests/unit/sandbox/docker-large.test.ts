import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { openFolderStore } from '../../../src/session/folder-store.ts';
import { exec, MIB, openProvider, openSandbox } from '../../services/docker-sandboxes.ts';
import { createToolbox } from '../../services/redactor.ts';
import { dockerGap, ENGINE_MS, sharedDocker, titleWithDocker } from '../../services/shared-docker.ts';
import { call } from '../tools/calling.ts';
import { createFakeSource, fakeTool, text } from '../tools/fake-source.ts';

const SIZE = 200 * MIB;

describe.skipIf(dockerGap !== null)(titleWithDocker('200 MB'), () => {
  beforeAll(sharedDocker, ENGINE_MS);

  test('go from a source into the sandbox, into the session and back without being held', async () => {
    const provider = await openProvider({ maxBytes: 256 * MIB, memoryMb: 768 });
    const [one, other] = [await openSandbox({}, provider), await openSandbox({}, provider)];
    const store = openFolderStore({ dir: mkdtempSync(join(tmpdir(), 'large-')) });
    const log = fakeTool('farm_get_log', z.strictObject({}), () => text(toLog(SIZE)));
    const toolbox = createToolbox({ sandbox: one, sources: [createFakeSource('farm', [log])] });
    const memory = watchMemory();

    const path = '/tmp/data/large.log';
    const { result } = await call(toolbox, 'fetch_to_sandbox', { tool: 'farm_get_log', path });
    expect(result).toEqual({ saved_to: path, bytes: SIZE });
    await store.saveArchive('session', one.archive(['/tmp/data'], SIZE));
    await store.saveContext('session', { version: 1, messages: [{ role: 'user', content: 'hello' }] });
    const archive = await (await store.load('session'))?.openArchive();
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
