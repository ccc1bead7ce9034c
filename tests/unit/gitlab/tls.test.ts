import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { PermanentError } from '../../../src/errors.ts';
import { createAgent } from '../../../src/http/agent.ts';
import { findProgram } from '../../services/server.ts';
import { answerJson, createClient, failureOf, startServer, TOKEN } from './gitlab-server.ts';

const hasOpenssl = findProgram('openssl') !== null;

const note = hasOpenssl ? '' : ' (skipped: openssl is not installed)';

describe.skipIf(!hasOpenssl)(`a GitLab behind a company CA${note}`, () => {
  const folder = mkdtempSync(join(tmpdir(), 'hummingbird-tls-'));
  const file = (name: string) => join(folder, name);
  afterAll(() => rmSync(folder, { recursive: true }));

  beforeAll(() => {
    makeAuthority('ours');
    makeAuthority('other');
    writeFileSync(file('san.cnf'), 'subjectAltName=IP:127.0.0.1');
    openssl('req', '-newkey', ...KEY, '-keyout', 'server.key', '-out', 'server.csr', '-subj', '/CN=gitlab');
    const signer = ['-CA', 'ours.pem', '-CAkey', 'ours.key', '-CAcreateserial', '-extfile', 'san.cnf'];
    openssl('x509', '-req', '-in', 'server.csr', '-out', 'server.pem', '-days', '2', ...signer);
  });

  it('works once its CA is added', async () => {
    const { url } = await startGitlab();

    const project = await createClient(url, { caFile: file('ours.pem') }).api.Projects.show(1);

    expect(project).toEqual({ id: 1 });
  });

  it.each(['other.pem', undefined])(
    'says clearly that the certificate is not trusted (CA: %s)',
    async (name) => {
      const { url, requests } = await startGitlab();
      const client = createClient(url, name === undefined ? {} : { caFile: file(name) });

      const error = await failureOf(client.api.MergeRequestNotes.create(1, 2, 'hello'));

      expect(error).toBeInstanceOf(PermanentError);
      expect(error).toHaveProperty(
        'message',
        expect.stringMatching(/certificate is not trusted .*set the CA file/),
      );
      expect(requests).toEqual([]);
    },
  );

  it('believes the authorities of NODE_EXTRA_CA_CERTS as well', async () => {
    const { url, requests } = await startGitlab();
    const script = `
      import { createGitlabClient } from ${JSON.stringify(import.meta.resolve('../../../src/gitlab/client.ts'))};
      const [url, caFile, token] = process.argv.slice(1);
      await createGitlabClient({ url, caFile, token, timeoutMs: 5000, maxRequestsPerMinute: 60 }).ping();
      process.exit();`;

    await promisify(execFile)(
      process.execPath,
      ['--input-type=module', '--eval', script, url, file('other.pem'), TOKEN],
      { env: { ...process.env, NODE_EXTRA_CA_CERTS: file('ours.pem') } },
    );

    expect(requests).toHaveLength(1);
  });

  it('is shown the certificate of a connection that has one, and its own CA is believed too', async () => {
    const read = (name: string) => readFileSync(file(name), 'utf8');
    const identity = { key: read('server.key'), cert: read('server.pem'), ca: read('ours.pem') };
    const { url } = await startServer((_, response) => answerJson(response, { id: 1 }), {
      ...identity,
      requestCert: true,
    });
    const agent = createAgent({ timeoutMs: 5_000, caFile: file('other.pem'), connect: identity });
    onTestFinished(() => agent.destroy());

    const { body } = await request(url, { dispatcher: agent });

    expect(await body.json()).toEqual({ id: 1 });
  });

  it.each([
    ['missing.pem', undefined, 'can not be read'],
    ['empty.pem', 'no certificate', 'holds no PEM certificate'],
    ['damaged.pem', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----', 'Certificate 1 in'],
  ])('refuses the CA file %s at the start', (name, content, words) => {
    if (content !== undefined) writeFileSync(file(name), content);

    expect(() => createClient('https://gitlab.example', { caFile: file(name) })).toThrow(words);
  });

  const KEY = ['ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];

  function makeAuthority(name: string): void {
    const output = ['-keyout', `${name}.key`, '-out', `${name}.pem`, '-subj', `/CN=${name}`, '-days', '2'];
    openssl('req', '-x509', '-newkey', ...KEY, ...output);
  }

  function openssl(...args: string[]): void {
    execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' });
  }

  function startGitlab() {
    const tls = {
      key: readFileSync(file('server.key'), 'utf8'),
      cert: readFileSync(file('server.pem'), 'utf8'),
    };
    return startServer((_, response) => answerJson(response, { id: 1 }), tls);
  }
});
