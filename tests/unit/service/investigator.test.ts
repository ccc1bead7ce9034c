import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { readSecrets } from '../../../src/config/config.ts';
import { createGitlabClient } from '../../../src/gitlab/client.ts';
import { createInvestigator } from '../../../src/service/investigator.ts';
import { newLedger } from '../../services/ledger.ts';
import { startWire, type Wire } from '../../services/model-wire.ts';
import { redactor } from '../../services/redactor.ts';
import { load } from '../config/problems.ts';
import { requestOf, user } from '../models/requests.ts';
import { createMemorySandbox } from '../tools/memory-sandbox.ts';

const folder = mkdtempSync(join(tmpdir(), 'hummingbird-investigator-'));
const reader = createGitlabClient({
  url: 'https://gitlab.example.com',
  token: 'read',
  timeoutMs: 1_000,
  maxRequestsPerMinute: 60,
});
const PRICES = { claude: { input: 1, output: 1 }, own: { input: 0, output: 0 } };

let wire: Wire;
beforeAll(async () => {
  wire = await startWire();
});
beforeEach(() => {
  wire.reset();
  wire.mock.on({}, { content: 'ok' });
});
afterAll(async () => {
  await wire.close();
  await reader.close();
  rmSync(folder, { recursive: true });
});

describe('the model of an investigation', () => {
  const claude = () => ({ provider: 'anthropic', model: 'claude', baseUrl: wire.url });
  const own = () => ({ provider: 'openai', model: 'own', baseUrl: `${wire.url}/v1` });

  test('is asked without a key where the configuration names none', async () => {
    await ask([own()], { OPENAI_API_KEY: 'not-asked-for' });

    expect(wire.last().path).toBe('/v1/chat/completions');
    expect(wire.last().headers).not.toHaveProperty('authorization');
  });

  test('is asked with the key in the variable that the configuration names', async () => {
    await ask([{ ...own(), apiKeyEnv: 'MY_KEY' }], { MY_KEY: 'secret' });

    expect(wire.last().headers.authorization).toBe('Bearer secret');
  });

  test.each([
    ['has its key', { ANTHROPIC_API_KEY: 'k' }, 'anthropic/claude'],
    ['needs none', {}, 'openai/own'],
  ])('is the first of the chain that %s', async (_which, env, name) => {
    const { openModel } = await investigator([claude(), own()], env);

    expect(openModel(newLedger()).name).toBe(name);
  });

  test('and that of its side calls are on one account', async () => {
    const { openModel, openSideModel } = await investigator([claude()], { ANTHROPIC_API_KEY: 'k' });
    const ledger = newLedger();

    await openModel(ledger).generate(requestOf([user('why?')]));
    const spent = ledger.spentMicroUsd();
    await openSideModel(ledger)?.generate(requestOf([user('why?')]));

    expect(spent).toBeGreaterThan(0);
    expect(ledger.spentMicroUsd()).toBe(2 * spent);
  });

  test('is missing if none of the chain can be used', async () => {
    await expect(investigator([claude(), { ...own(), apiKeyEnv: 'MY_KEY' }], {})).rejects.toThrow(
      'the key of claude, own is not in the environment',
    );
  });
});

describe('the tools of an investigation', () => {
  const mr = {
    projectId: 1,
    iid: 2,
    title: '',
    state: 'opened',
    sha: 'abc',
    webUrl: '',
    createdAt: '2026-11-01T12:00:00Z',
    headPipelineId: null,
    authorId: 3,
  };
  const wiki = {
    name: 'wiki',
    command: process.execPath,
    args: [join(import.meta.dirname, '../sources/mcp/wiki-stdio.ts')],
    passEnvs: ['WIKI_TOKEN'],
    tools: ['get_page'],
  };
  const namesOf = async (more: object) => {
    const model = { provider: 'openai', model: 'own', baseUrl: wire.url };
    const { createToolbox, dataSources } = await investigator([model], { WIKI_TOKEN: 'x' }, more);
    const { definitions } = createToolbox(createMemorySandbox(), mr, { id: 1, path: 'shop/checkout' });
    await dataSources.close();
    return definitions;
  };

  test('are those of GitLab, and of the MCP servers that are configured', async () => {
    const names = (await namesOf({ sources: { mcp: [wiki] } })).map(({ name }) => name);

    expect(names).toContain('gitlab_get_job_log');
    expect(names.filter((name) => name.startsWith('wiki_'))).toEqual(['wiki_get_page']);
  });

  test('can read another project only if the configuration names some', async () => {
    const takesProject = (definitions: Awaited<ReturnType<typeof namesOf>>) =>
      definitions.filter(({ inputSchema }) => JSON.stringify(inputSchema).includes('"project"')).length;

    expect(takesProject(await namesOf({}))).toBe(0);
    expect(takesProject(await namesOf({ gitlab: { readProjects: ['group/**'] } }))).toBeGreaterThan(5);
  });

  test('are an error at start when an MCP server is not there', async () => {
    const mcp = [{ ...wiki, command: 'no-such-mcp' }];

    await expect(namesOf({ sources: { mcp } })).rejects.toThrow(/MCP server wiki.*no-such-mcp/);
  });
});

async function ask(main: object[], env: NodeJS.ProcessEnv): Promise<void> {
  const { openModel } = await investigator(main, env);
  await openModel(newLedger()).generate(requestOf([user('why?')]));
}

function investigator(main: object[], env: NodeJS.ProcessEnv, more: object = {}) {
  const config = load(
    JSON.stringify({ models: { main, prices: PRICES }, store: { kind: 'folder', dir: folder }, ...more }),
  );
  const secrets = readSecrets(config, {}, env);
  return createInvestigator({
    config,
    secrets,
    redactor,
    reader,
    log: pino({ level: 'silent' }),
    now: Date.now,
    canaryKey: Buffer.from('key'),
  });
}
