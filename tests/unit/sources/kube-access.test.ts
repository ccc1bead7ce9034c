import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { pipelineRun } from '../../../src/demo/konflux/objects.ts';
import { createPretendKonflux } from '../../../src/demo/konflux/server.ts';
import { PermanentError } from '../../../src/errors.ts';
import { openKonfluxCluster } from '../../../src/sources/konflux/clusters.ts';
import { openKubeAccess } from '../../../src/sources/konflux/kube-access.ts';
import { createKonfluxSource } from '../../../src/sources/konflux/source.ts';
import { findProgram } from '../../services/server.ts';
import { answerJson, failureOf, startServer } from '../gitlab/gitlab-server.ts';
import { asModel, GITLAB_URL, PROJECT, SHA } from './konflux-scene.ts';

/** Hears what is secret of a login. */
const nobody = (): void => undefined;

describe('a kubeconfig', () => {
  test('says where the cluster is and who we are, also to its archive', async () => {
    const konflux = await createPretendKonflux();
    onTestFinished(() => konflux.close());
    konflux.cluster.add(pipelineRun({ name: 'in-cluster', sha: SHA }));
    konflux.archive.add(pipelineRun({ name: 'in-archive', sha: SHA }));
    const cluster = await openKonfluxCluster({
      name: 'prod',
      login: { kind: 'kubeconfig', file: writeKubeconfig(konflux.cluster.url, konflux.token) },
      kubearchiveUrl: konflux.archive.url,
      learn: nobody,
    });
    onTestFinished(() => cluster.close());
    const tenancy = { cluster, namespace: konflux.namespace };
    const { ask } = asModel(
      createKonfluxSource([tenancy], { project: PROJECT, gitlabUrl: GITLAB_URL, mrIid: 7, sha: SHA }),
    );

    expect(await ask('konflux_list_pipelineruns')).toMatchObject({ total: 2 });
  });

  test('may hold several contexts, of which one is chosen', async () => {
    const file = writeKubeconfig('https://k8s.example.com:6443', 'secret');

    const access = await openKubeAccess({ kind: 'kubeconfig', file, context: 'other' }, nobody);

    expect(access.url).toBe('https://other.example.com');
    expect(await access.authorize()).toEqual({ authorization: 'Bearer secret' });
  });

  test.each([
    [['eks', 'get-token', '--cluster-name', 'prod'], []],
    [['get-token', '--login', 'azurecli'], []],
    [
      ['oidc-login', 'get-token', '--oidc-client-secret=s3cr3t', '--api-key', 'k3y', '-v'],
      ['s3cr3t', 'k3y'],
    ],
    [['--token', '--verbose'], []],
  ])('whose program is called with %j gives %j away, and no word more', async (args, secrets) => {
    const file = writeKubeconfig('https://k8s.example.com', 'secret');
    const user = `"exec":${JSON.stringify({ command: 'x', args, apiVersion: 'client.authentication.k8s.io/v1' })}`;
    writeFileSync(file, readFileSync(file, 'utf8').replace('"token":"secret"', user));
    const learned: string[] = [];
    await openKubeAccess({ kind: 'kubeconfig', file }, (told) => void learned.push(...told)).catch(
      () => undefined,
    );
    expect(learned).toEqual(secrets);
  });

  test.each([
    ['that is not there', { file: '/nowhere/config' }, /\/nowhere\/config can not be read/],
    ['without that context', { context: 'missing' }, /has no context missing/],
    [
      'whose cluster is not encrypted',
      { url: 'http://k8s', verify: true },
      /can not be used to log in: HTTP/,
    ],
  ])('%s is an error that says so', async (_which, { file, context, url, verify }: Wrong, words) => {
    const written = file ?? writeKubeconfig(url ?? 'https://k8s', 'secret', verify);

    const error = await failureOf(openKubeAccess({ kind: 'kubeconfig', file: written, context }, nobody));

    expect(error).toBeInstanceOf(PermanentError);
    expect(error).toHaveProperty('message', expect.stringMatching(words));
  });
});

const hasOpenssl = findProgram('openssl') !== null;

test.skipIf(!hasOpenssl)('a pod is logged in by its service account', async () => {
  const tls = makeCertificate();
  const { url, requests } = await startServer((_, response) => answerJson(response, { items: [] }), tls);
  const root = makeFolder();
  const account = join(root, 'var/run/secrets/kubernetes.io/serviceaccount');
  mkdirSync(account, { recursive: true });
  writeFileSync(join(account, 'ca.crt'), tls.cert);
  writeFileSync(join(account, 'token'), 'first-token');
  const { hostname, port } = new URL(url);
  vi.stubEnv('KUBERNETES_SERVICE_HOST', hostname);
  vi.stubEnv('KUBERNETES_SERVICE_PORT', port);
  onTestFinished(() => void vi.unstubAllEnvs());
  const login = { kind: 'in-cluster' as const, root };
  const cluster = await openKonfluxCluster({ name: 'prod', login, learn: nobody });
  onTestFinished(() => cluster.close());
  const scope = { project: PROJECT, gitlabUrl: GITLAB_URL, mrIid: 7, sha: SHA };
  const { call } = asModel(createKonfluxSource([{ cluster, namespace: 'team' }], scope));

  expect(await call('konflux_list_pipelineruns')).toMatchObject({ isError: false });
  expect(requests[0]).toMatchObject({ authorization: 'Bearer first-token' });
  expect(requests[0]?.path).toBe('/apis/tekton.dev/v1/namespaces/team/pipelineruns');
});

test.skipIf(!hasOpenssl)('the authority in a kubeconfig is believed, and no other', async () => {
  const tls = makeCertificate();
  const { url } = await startServer((_, response) => answerJson(response, { items: [] }), tls);
  const authority = Buffer.from(tls.cert).toString('base64');
  const listAt = async (file: string) => {
    const login = { kind: 'kubeconfig', file } as const;
    const cluster = await openKonfluxCluster({ name: 'prod', login, learn: nobody });
    onTestFinished(() => cluster.close());
    const tenancy = { cluster, namespace: 'team' };
    const source = createKonfluxSource([tenancy], {
      project: PROJECT,
      gitlabUrl: GITLAB_URL,
      mrIid: 7,
      sha: SHA,
    });
    return asModel(source).call('konflux_list_pipelineruns');
  };

  const trusted = await listAt(writeKubeconfig(url, 'secret', true, authority));
  const unknown = await listAt(writeKubeconfig(url, 'secret', true));

  expect(trusted).toMatchObject({ isError: false });
  expect(unknown.result.error).toContain('the certificate is not trusted');
});

test('outside of a pod there is no login of a pod', async () => {
  const error = await failureOf(openKubeAccess({ kind: 'in-cluster' }, nobody));

  expect(error).toHaveProperty('message', expect.stringContaining('does not run in a pod'));
});

interface Wrong {
  file?: string;
  context?: string;
  url?: string;
  verify?: boolean;
}

function makeCertificate() {
  const folder = makeFolder();
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const names = ['-subj', '/CN=k8s', '-addext', 'subjectAltName=IP:127.0.0.1'];
  const made = ['-newkey', 'rsa:2048', '-nodes', '-keyout', key, '-out', cert, '-days', '2'];
  execFileSync('openssl', ['req', '-x509', ...made, ...names], { stdio: 'ignore' });
  return { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') };
}

function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'hummingbird-kubeconfig-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

function writeKubeconfig(server: string, token: string, verify = false, authority?: string): string {
  const file = join(makeFolder(), 'config');
  const trust = verify ? {} : { 'insecure-skip-tls-verify': true };
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'here',
    clusters: [
      { name: 'k8s', cluster: { server, ...trust, 'certificate-authority-data': authority } },
      { name: 'other', cluster: { server: 'https://other.example.com' } },
    ],
    users: [{ name: 'reader', user: { token } }],
    contexts: [
      { name: 'here', context: { cluster: 'k8s', user: 'reader' } },
      { name: 'other', context: { cluster: 'other', user: 'reader' } },
    ],
  };
  writeFileSync(file, JSON.stringify(config));
  return file;
}
