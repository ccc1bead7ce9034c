// A worker with a sandbox in a process of its own, to be killed: `node sandbox-process.ts SOCKET IMAGE SESSION`.
// Says `ready` when a command runs in the sandbox, and never ends by itself.
import { openDockerSandboxes } from '../../src/sandbox/docker/provider.ts';
import { toOptions } from './docker-options.ts';

const [socketPath = '', image = '', sessionId = ''] = process.argv.slice(2);
const provider = await openDockerSandboxes(toOptions({ socketPath, image }, { pool: 1 }));
const sandbox = await provider.create({ sessionId, jobId: 'job', openLastSaved: async () => null });
const options = { timeoutMs: 600_000, maxOutputBytes: 100, signal: new AbortController().signal };
await sandbox.exec('echo started', options);
const running = sandbox.exec('sleep 600', options);
process.stdout.write('ready\n');
await running;
