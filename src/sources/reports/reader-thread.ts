// Runs in a thread of its own: reads one text with the function it is told, and answers.
import { parentPort, workerData } from 'node:worker_threads';
import type { Outcome } from './read-in-thread.ts';

const { module, name, xml }: { module: string; name: string; xml: string } = workerData;

parentPort?.postMessage(await read());

async function read(): Promise<Outcome> {
  try {
    const exported: Record<string, (xml: string) => unknown> = await import(module);
    return { kind: 'read', value: exported[name]?.(xml) };
  } catch (error) {
    return { kind: 'failed', message: error instanceof Error ? error.message : String(error) };
  }
}
