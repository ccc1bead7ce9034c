// Apart from the others: an SDK keeps the console's functions from its first client on.
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { startWire, type Wire } from '../../services/model-wire.ts';
import { adapters } from './adapters.ts';
import { requestOf, user } from './requests.ts';

const printed = (['error', 'warn', 'info', 'log', 'debug'] as const).map((name) => vi.spyOn(console, name));
let wire: Wire;
beforeAll(async () => {
  wire = await startWire();
});
afterAll(() => wire.close());

test.each(adapters)('$name does not print an answer that it can not read', async ({ create, stream }) => {
  wire.reply((response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(stream.start + stream.garbage);
  });

  await expect(create(wire.url).generate(requestOf([user('why?')]))).rejects.toMatchObject({ kind: 'retry' });

  expect(printed.flatMap((spy) => spy.mock.calls)).toEqual([]);
});
