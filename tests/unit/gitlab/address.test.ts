import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { PermanentError } from '../../../src/errors.ts';
import { createClient, failureOf, resolveTo, startServer } from './gitlab-server.ts';

const TRACE = 'projects/1/jobs/2/trace';

async function startRedirecting(location: string) {
  return startServer((_, response) => response.writeHead(302, { location }).end());
}

describe('a redirect to a host that is not listed', () => {
  it.each([
    'http://127.0.0.1:9/file',
    'https://storage.example.com.evil.test/file',
    'https://evil.test/storage.example.com',
    'https://storage.example.com:8443/file',
    'https://example.com/file',
    'https://example.com.@evil.test/',
  ])('is not followed: %s', async (location) => {
    const { url } = await startRedirecting(location);
    const client = createClient(url, {
      fileHosts: ['storage.example.com', '*.example.com'],
      lookup: resolveTo('127.0.0.1'),
    });

    const error = await failureOf(client.stream(TRACE));

    expect(error).toBeInstanceOf(PermanentError);
    expect(error).toHaveProperty(
      'message',
      expect.stringMatching(/redirects to .*add .* to gitlab\.fileHosts/),
    );
  });

  it('is not followed from an allowed one either', async () => {
    const store = await startRedirecting('http://127.0.0.1:9/file');
    const { url } = await startRedirecting(store.url);

    const error = await failureOf(createClient(url, { fileHosts: [new URL(store.url).host] }).stream(TRACE));

    expect(error).toHaveProperty('message', expect.stringContaining('redirects to 127.0.0.1:9, which'));
  });
});

describe('an address that is never connected to', () => {
  const METADATA = [
    '169.254.169.254',
    '0xa9fea9fe',
    '[::ffff:169.254.169.254]',
    '[64:ff9b::169.254.169.254]',
    '[64:ff9b:1::a9fe:a9fe]',
    '168.63.129.16',
    '[fd00:42::42]',
    '[fd00:ec2::254]',
    '[fe80::1]',
    '100.100.100.200',
    '192.0.0.192',
    '0.0.0.0',
    '[::]',
    '255.255.255.255',
  ];

  it.each(METADATA)('is refused as a target, even if it is listed: %s', async (host) => {
    const { url } = await startRedirecting(`http://${host}/latest/meta-data/`);
    const { hostname } = new URL(`http://${host}`);

    const error = await failureOf(createClient(url, { fileHosts: [hostname] }).stream(TRACE));

    expect(error).toBeInstanceOf(PermanentError);
    expect(error).toHaveProperty('message', expect.stringContaining('an address that is never connected to'));
  });

  it.each(['169.254.169.254', '::ffff:169.254.169.254', 'fd00:ec2::254'])(
    'is refused when a listed name leads to it: %s',
    async (address) => {
      const { url } = await startRedirecting('https://store.example.com/file');
      const client = createClient(url, { fileHosts: ['store.example.com'], lookup: resolveTo(address) });

      const error = await failureOf(client.stream(TRACE));

      expect(error).toBeInstanceOf(PermanentError);
      expect(error).toHaveProperty('message', expect.stringMatching(/^store\.example\.com leads to /));
    },
  );

  it('is refused as GitLab itself, too', async () => {
    const client = createClient('http://gitlab.example.com', { lookup: resolveTo('169.254.169.254') });

    expect(await failureOf(client.ping())).toHaveProperty(
      'message',
      expect.stringContaining('gitlab.example.com leads to 169.254.169.254'),
    );
  });
});

describe('an address of a private network', () => {
  it('is refused for a host that only a wildcard allows', async () => {
    const store = await startServer((_, response) => response.end('bytes'));
    const { port } = new URL(store.url);
    const { url } = await startRedirecting(`http://bucket.example.com:${port}/file`);
    const fileHosts = [`*.example.com:${port}`];

    const error = await failureOf(
      createClient(url, { fileHosts, lookup: resolveTo('127.0.0.1') }).stream(TRACE),
    );

    expect(error).toHaveProperty('message', expect.stringContaining('an address of a private network'));
    expect(store.requests).toEqual([]);
  });

  it('is connected to for a host that is named in full', async () => {
    const store = await startServer((_, response) => response.end('bytes'));
    const { port } = new URL(store.url);
    const { url } = await startRedirecting(`http://bucket.example.com:${port}/file`);
    const fileHosts = [`bucket.example.com:${port}`];

    const { body } = await createClient(url, { fileHosts, lookup: resolveTo('127.0.0.1') }).stream(TRACE);

    expect(await text(body)).toBe('bytes');
  });
});
