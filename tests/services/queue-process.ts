// A worker in a process of its own, to be killed or reached from outside: `node queue-process.ts URL PREFIX`.
// Says what happens on standard output, a JSON object per line; ends when its standard input does.
import { openAll } from './open-backend.ts';
import { workUntilAborted } from './work-until-aborted.ts';

const [url = '', keyPrefix = ''] = process.argv.slice(2);
const opened = await openAll({ url, keyPrefix });
const worker = await opened.queue.work(
  ({ id, attempt, signal }) => {
    say({ event: 'started', id, attempt });
    return workUntilAborted(signal);
  },
  {
    concurrency: 1,
    maxConcurrent: () => 10,
    onError: () => undefined,
    onEnd: ({ id }, outcome) => say({ event: outcome.kind, id }),
  },
);
say({ event: 'ready' });
process.stdin.resume();
process.stdin.once('end', async () => {
  await worker.stop(0);
  await opened.close();
});

function say(message: unknown): void {
  process.stdout.write(`${JSON.stringify(message)}\n`);
}
