import pino from 'pino';
import { Agent } from 'undici';
import { expect, onTestFinished, test, vi } from 'vitest';
import { readSecrets } from '../../../src/config/config.ts';
import { pipelineRun } from '../../../src/demo/konflux/objects.ts';
import { createPretendKonflux } from '../../../src/demo/konflux/server.ts';
import { openDataSources } from '../../../src/service/data-sources.ts';
import { openMcpSources } from '../../../src/service/mcp-sources.ts';
import { createToolbox, redactor } from '../../services/redactor.ts';
import { load } from '../config/problems.ts';
import { answerJson, createClient, startServer } from '../gitlab/gitlab-server.ts';
import { startBareServer } from '../sources/mcp/bare-server.ts';
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

test('Testing Farm is read when a status of the commit links to the request', async () => {
  const id = '7d6a6cbf-3cd5-49fb-aca1-f76ffa0734aa';
  const status = { id: 1, name: 'farm', status: 'failed', target_url: `https://farm.example.com/${id}` };
  const gitlab = await startServer(({ path }, response) =>
    answerJson(response, path.endsWith(`/${SHA}/statuses`) ? [status] : []),
  );
  const elsewhere = { fmf: { url: 'https://example.com/tests', ref: 'main' } };
  const farm = await startServer(({ path }, response) =>
    answerJson(response, { id: path.split('/').at(-1), state: 'complete', test: elsewhere }),
  );
  const text = { gitlab: { url: gitlab.url }, sources: { testingFarm: { url: farm.url } } };
  const sources = await open(text, {}, createClient(gitlab.url));
  const toolbox = createToolbox({
    sandbox: createMemorySandbox(),
    sources: sources.createFor(MR, { id: 1, path: 'group/app' }),
  });
  const get = (request_id: string) => call(toolbox, 'testing_farm_get_request', { request_id });

  expect((await get(id)).result).toMatchObject({ result: { state: 'complete' } });
  expect((await get(id.replace('7d', '00'))).result.error).toContain('is not one of this job');
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

test('an MCP server that is away at start is a named gap, and is there for a later job', async () => {
  let isAway = true;
  const { url } = await startBareServer((_, response) => response.end(), {
    refuse: () => (isAway ? { status: 503 } : undefined),
  });
  const mcp = [{ name: 'wiki', url, tools: ['get_page'] }];
  const sources = await open({ sources: { mcp } });
  const attach = (allowed?: string[]) =>
    createToolbox({
      sandbox: createMemorySandbox(),
      sources: sources.createFor(MR, { id: 1, path: 'a/b' }),
      allowed: allowed ?? null,
    });

  const without = attach();
  expect(without.gaps()).toEqual([expect.stringMatching(/^wiki_get_page: MCP server wiki, .*503/)]);
  expect(without.notes).toMatch(/## Data source: wiki\n\nThis source can not be reached now/);
  expect(without.notes).not.toContain('503');
  expect(attach(['gitlab_*']).gaps()).toEqual([]);

  isAway = false;
  await vi.waitUntil(() => attach().definitions.some(({ name }) => name === 'wiki_get_page'), 15_000);
  expect(attach().gaps()).toEqual([]);
});

test.each([
  ['asks us to wait', { refuse: () => ({ status: 503, headers: { 'retry-after': '50' } }) }],
  ['says hello and nothing more', { onInitialize: () => new Promise(() => undefined) }],
  ['does not tell its tools', { listTools: () => new Promise<object>(() => undefined) }],
])('an MCP server that %s does not hold up the start', async (_, options) => {
  const { url, methods } = await startBareServer((__, response) => response.end(), options);
  const servers = [{ name: 'wiki', url, tools: ['get_page'], timeoutMs: 60_000 }];
  const config = load(JSON.stringify({ sources: { mcp: servers } }));
  const log = pino({ level: 'silent' });

  const mcp = await openMcpSources(config, readSecrets(config, {}, {}), log, 300);
  onTestFinished(() => mcp.close());

  expect(mcp.current()).toMatchObject([
    { tools: [], missing: { tools: ['wiki_get_page'], why: 'it was not ready within 0.3 s' } },
  ]);
  expect(methods).toContain('initialize');
});

async function open(
  text: object,
  env: NodeJS.ProcessEnv = {},
  reader = createClient('https://gitlab.example.com'),
) {
  const config = load(JSON.stringify(text));
  const log = pino({ level: 'silent' });
  const options = { config, secrets: readSecrets(config, {}, env), reader, log, redactor };
  const sources = await openDataSources(options);
  onTestFinished(() => sources.close());
  return sources;
}
