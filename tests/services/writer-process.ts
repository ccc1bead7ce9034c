// A run that saves its session, in a process of its own, to be killed: `node writer-process.ts FOLDER`.
// Says `stored` when the files of its second turn are stored and the conversation that names them is not, and stays.
import pino from 'pino';
import { createSessionWriter } from '../../src/jobs/session-writer.ts';
import { createVirtualSandboxes } from '../../src/sandbox/virtual/provider.ts';
import { openFolderStore } from '../../src/session/folder-store.ts';
import { newMeta } from './session-meta.ts';

const [dir = ''] = process.argv.slice(2);
const store = openFolderStore({ dir });
const sandbox = await createVirtualSandboxes({ maxBytes: 1_000_000 }).create();
let isStuck = false;
const writer = createSessionWriter({
  store: {
    ...store,
    async saveContext(id, context) {
      if (!isStuck) return store.saveContext(id, context);
      process.stdout.write('stored\n');
      await new Promise(() => setInterval(() => undefined, 1_000));
    },
  },
  sandbox,
  keepBytes: 1_000_000,
  log: pino({ level: 'silent' }),
  now: Date.now,
  session: null,
  meta: newMeta('s'),
  folders: [],
  isRestored: false,
});
await writer.begin([{ role: 'user', content: 'begun' }]);
await sandbox.writeFile('/tmp/data/a', 'first');
await writer.checkpoint([{ role: 'user', content: 'first' }]);
await sandbox.writeFile('/tmp/data/a', 'second');
await sandbox.writeFile('/tmp/data/b', 'second');
isStuck = true;
await writer.checkpoint([{ role: 'user', content: 'second' }]);
