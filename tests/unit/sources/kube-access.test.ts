import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { pipelineRun } from '../../../src/demo/konflux/objects.ts';
import { createPretendKonflux } from '../../../src/demo/konflux/server.ts';
import { PermanentError } from '../../../src/errors.ts';
import { openKonfluxCluster } from '../../../src/sources/konflux/clusters.ts';
import { openKubeAccess } from '../../../src/sources/konflux/kube-access.ts';
import { createKonfluxSource } from '../../../src/sources/konflux/source.ts';
import { failureOf } from '../gitlab/gitlab-server.ts';
import { asModel, PROJECT, SHA } from './konflux-scene.ts';

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
    });
    onTestFinished(() => cluster.close());
    const tenancy = { cluster, namespace: konflux.namespace };
    const { ask } = asModel(createKonfluxSource([tenancy], { project: PROJECT, mrIid: 7, sha: SHA }));

    expect(await ask('konflux_list_pipelineruns')).toMatchObject({ total: 2 });
  });

  test('may hold several contexts, of which one is chosen', async () => {
    const file = writeKubeconfig('https://k8s.example.com:6443', 'secret');

    const access = await openKubeAccess({ kind: 'kubeconfig', file, context: 'other' });

    expect(access.url).toBe('https://other.example.com');
    expect(await access.authorize()).toEqual({ authorization: 'Bearer secret' });
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

    const error = await failureOf(openKubeAccess({ kind: 'kubeconfig', file: written, context }));

    expect(error).toBeInstanceOf(PermanentError);
    expect(error).toHaveProperty('message', expect.stringMatching(words));
  });
});

test('outside of a pod there is no login of a pod', async () => {
  const error = await failureOf(openKubeAccess({ kind: 'in-cluster' }));

  expect(error).toHaveProperty('message', expect.stringContaining('does not run in a pod'));
});

interface Wrong {
  file?: string;
  context?: string;
  url?: string;
  verify?: boolean;
}

function writeKubeconfig(server: string, token: string, verify = false): string {
  const folder = mkdtempSync(join(tmpdir(), 'hummingbird-kubeconfig-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'config');
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'here',
    clusters: [
      { name: 'k8s', cluster: { server, ...(!verify && { 'insecure-skip-tls-verify': true }) } },
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
