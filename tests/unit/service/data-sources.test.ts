import pino from 'pino';
import { Agent } from 'undici';
import { expect, onTestFinished, test, vi } from 'vitest';
import { readSecrets } from '../../../src/config/config.ts';
import { pipelineRun } from '../../../src/demo/konflux/objects.ts';
import { createPretendKonflux } from '../../../src/demo/konflux/server.ts';
import { openDataSources } from '../../../src/service/data-sources.ts';
import { createToolbox } from '../../services/redactor.ts';
import { load } from '../config/problems.ts';
import { createClient } from '../gitlab/gitlab-server.ts';
import { call } from '../tools/calling.ts';
import { createMemorySandbox } from '../tools/memory-sandbox.ts';

const SHA = 'a'.repeat(40);
const MR = { projectId: 1, iid: 7, sha: SHA };

test('a source is on when its section is there and means the project', async () => {
  const sources = await open({
    sources: {
      konflux: {
        clusters: [
          { name: 'a', kubearchiveUrl: 'https://a.example.com', namespaces: { 'group/**': 'team' } },
          { name: 'b', kubearchiveUrl: 'https://b.example.com', namespaces: { 'other/**': 'others' } },
        ],
      },
      testingFarm: {},
    },
  });

  const namesFor = (path: string) => sources.createFor(MR, { id: 1, path }).map(({ name }) => name);

  expect(namesFor('group/app')).toEqual(['gitlab', 'konflux', 'testing_farm']);
  expect(namesFor('elsewhere/app')).toEqual(['gitlab', 'testing_farm']);
});

test('without sections there is only GitLab', async () => {
  const sources = await open({});

  expect(sources.createFor(MR, { id: 1, path: 'a/b' }).map(({ name }) => name)).toEqual(['gitlab']);
});

test('Konflux is asked with the token, in the namespace and for the commit of the job', async () => {
  const konflux = await createPretendKonflux({ namespace: 'team', token: 'sa-token' });
  onTestFinished(() => konflux.close());
  konflux.cluster.add(pipelineRun({ name: 'cart-1', sha: SHA }));
  const { url } = konflux.cluster;
  const clusters = [{ url, tokenEnv: 'MY_TOKEN', namespaces: { 'group/app': 'team' } }];
  const sources = await open({ sources: { konflux: { clusters } } }, { MY_TOKEN: 'sa-token' });
  const toolbox = createToolbox({
    sandbox: createMemorySandbox(),
    sources: sources.createFor(MR, { id: 1, path: 'group/app' }),
  });

  const { result } = await call(toolbox, 'konflux_list_pipelineruns');

  expect(result.result).toMatchObject({ total: 1, pipelineruns: [{ pipelinerun: 'cart-1' }] });
  expect(toolbox.notes).toContain('## Data source: konflux');
});

test('a kubeconfig that is not there keeps the service from starting, and says which', async () => {
  const clusters = [{ kubeconfig: '/nowhere/kubeconfig', namespaces: { '**': 'team' } }];

  await expect(open({ sources: { konflux: { clusters } } })).rejects.toThrow(
    'The kubeconfig /nowhere/kubeconfig can not be read',
  );
});

test('what was opened is closed again when the next can not be', async () => {
  const closed = vi.spyOn(Agent.prototype, 'destroy');
  onTestFinished(() => closed.mockRestore());
  const clusters = [{ kubearchiveUrl: 'https://a.example.com', namespaces: { '**': 'team' } }];
  const mcp = [{ name: 'wiki', command: 'no-such-mcp', tools: ['get_page'] }];

  await expect(open({ sources: { konflux: { clusters }, testingFarm: {}, mcp } })).rejects.toThrow(
    'no-such-mcp',
  );

  // KubeArchive's connections, and the farm's to its API and to its files.
  expect(new Set(closed.mock.contexts).size).toBe(3);
});

async function open(text: object, env: NodeJS.ProcessEnv = {}) {
  const config = load(JSON.stringify(text));
  const reader = createClient('https://gitlab.example.com');
  const options = { config, secrets: readSecrets(config, {}, env), reader, log: pino({ level: 'silent' }) };
  const sources = await openDataSources(options);
  onTestFinished(() => sources.close());
  return sources;
}
