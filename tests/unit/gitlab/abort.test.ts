import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { RetryableError } from '../../../src/errors.ts';
import { systemClock } from '../../../src/http/clock.ts';
import { answerJson, createClient, failureOf, startServer } from './gitlab-server.ts';

describe('an abort', () => {
  const reason = new Error('the job was cancelled');

  it('ends a stream in the middle, and on the wire', async () => {
    const closed = Promise.withResolvers<void>();
    const { url } = await startServer((_, response) => {
      response.once('close', closed.resolve);
      response.write('a beginning');
    });
    const controller = new AbortController();

    const { body } = await createClient(url).stream('log', { signal: controller.signal });
    const reading = failureOf(text(body));
    controller.abort(reason);

    expect(await reading).toBe(reason);
    await closed.promise;
  });

  it('of a stream nobody has begun to read is told to the reader, not to the process', async () => {
    const { url } = await startServer((_, response) => response.write('a beginning'));
    const controller = new AbortController();
    const { body } = await createClient(url).withSignal(controller.signal).stream('log');

    controller.abort(reason);
    await new Promise((resolve) => body.once('close', resolve));

    expect(await failureOf(text(body))).toBe(reason);
  });

  it('ends a request that has no answer yet', async () => {
    const arrived = Promise.withResolvers<void>();
    const { url } = await startServer(() => arrived.resolve());
    const controller = new AbortController();

    const { api } = createClient(url).withSignal(controller.signal);
    const call = failureOf(api.MergeRequests.show(1, 2));
    await arrived.promise;
    controller.abort(reason);

    expect(await call).toBe(reason);
  });

  it('does not break off a write that was sent: it may be done all the same, later', async () => {
    const controller = new AbortController();
    const { url } = await startServer((_, response) => {
      controller.abort(reason);
      answerJson(response, { id: 1, body: 'hello' });
    });
    const { api } = createClient(url).withSignal(controller.signal);

    expect(await api.MergeRequestNotes.create(1, 2, 'hello')).toMatchObject({ id: 1 });
    expect(await failureOf(api.MergeRequestNotes.create(1, 2, 'hello'))).toBe(reason);
  });

  it('ends a refusal that never finishes its words', async () => {
    const controller = new AbortController();
    const { url } = await startServer((_, response) => response.writeHead(403).write('you may not'));
    const abortSoon = () => setImmediate(() => controller.abort(reason));
    const log = { debug: abortSoon, warn: () => undefined };

    const call = createClient(url, { log }).withSignal(controller.signal).api.Projects.show(1);

    expect(await failureOf(call)).toBe(reason);
  });

  it('ends a real sleep with its reason', async () => {
    const controller = new AbortController();
    const sleep = failureOf(systemClock.sleep(60_000, controller.signal));

    controller.abort(reason);

    expect(await sleep).toBe(reason);
  });

  it('ends the sleep before a repetition', async () => {
    const { url, requests } = await startServer((_, response) => response.writeHead(502).end());
    const controller = new AbortController();
    const clock = {
      now: () => 0,
      async sleep(_: number, signal?: AbortSignal) {
        controller.abort(reason);
        signal?.throwIfAborted();
      },
    };

    const call = createClient(url, { clock }).withSignal(controller.signal).api.Projects.show(1);

    expect(await failureOf(call)).toBe(reason);
    expect(requests).toHaveLength(1);
  });

  it('of one view leaves the others alone, and reaches the views made from it', async () => {
    const { url } = await startServer((_, response) => answerJson(response, { id: 1 }));
    const client = createClient(url);
    const controller = new AbortController();
    const view = client.withSignal(controller.signal);
    const inner = view.withSignal(new AbortController().signal);
    controller.abort(reason);

    expect(await failureOf(view.api.Projects.show(1))).toBe(reason);
    expect(await failureOf(inner.api.Projects.show(1))).toBe(reason);
    expect(await failureOf(inner.stream('log'))).toBe(reason);
    expect(await client.api.Projects.show(1)).toEqual({ id: 1 });
  });
});

describe('a closed client', () => {
  it('ends what is under way and does not try again', async () => {
    const arrived = Promise.withResolvers<void>();
    const { url, requests } = await startServer(() => arrived.resolve());
    const client = createClient(url);
    const call = failureOf(client.api.Projects.show(1));
    await arrived.promise;

    await client.close();

    const error = await call;
    expect(error).toBeInstanceOf(RetryableError);
    expect(error).toHaveProperty('message', 'GET /api/v4/projects/1 ended because the client was closed');
    expect(requests).toHaveLength(1);
  });
});
