// Servers as they are out there.
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { PermanentError } from '../../../../src/errors.ts';
import { openMcpSource } from '../../../../src/sources/mcp/source.ts';
import { failureOf } from '../../gitlab/gitlab-server.ts';
import { call } from '../../tools/calling.ts';
import { attach } from './attach.ts';
import { startBareServer } from './bare-server.ts';

const text = (words: string) => ({ content: [{ type: 'text', text: words }] });

async function startOffering(tool: object) {
  const asked: unknown[] = [];
  const server = await startBareServer((answer, response) => response.end(answer(text('here'))), {
    tools: [{ name: 'get_page', inputSchema: { type: 'object' }, ...tool }],
    onCall: (args) => asked.push(args),
  });
  const attached = await attach({ kind: 'http', url: server.url }, { tools: ['get_page'] });
  const definition = attached.toolbox.definitions.find(({ name }) => name === 'wiki_get_page');
  return { ...attached, definition, asked };
}

describe('arguments', () => {
  const id = { type: 'string', description: 'Of the page' };
  const args = { id: 'seven' };

  test.each([
    ['of the older draft', { properties: { id: { $ref: '#/definitions/Id' } }, definitions: { Id: id } }],
    ['of the newer one', { properties: { id: { $ref: '#/$defs/Id' } }, $defs: { Id: id } }],
  ])('%s are told and checked', async (_, more) => {
    const { toolbox, definition, asked } = await startOffering({
      inputSchema: { type: 'object', required: ['id'], ...more },
    });

    expect(definition?.inputSchema).toMatchObject({ type: 'object', properties: { id: { type: 'string' } } });
    expect((await call(toolbox, 'wiki_get_page', {})).result.error).toContain('wrong arguments');
    expect((await call(toolbox, 'wiki_get_page', args)).result).toEqual({ result: 'here' });
    expect(asked).toEqual([args]);
  });

  test.each([
    ['conditions', { properties: { id }, dependentRequired: { id: ['page'] } }],
    ['exclusions', { properties: { id: { not: { type: 'number' } } } }],
    ['a choice at the top', { anyOf: [{ required: ['id'] }, { required: ['title'] }] }],
    ['a pattern of another language', { properties: { id: { type: 'string', pattern: '(?i)seven' } } }],
    ['an address', { properties: { id: { $ref: 'https://example.com/id.json' } } }],
  ])('with %s are told in words, and left to the server', async (_, more) => {
    const { toolbox, definition, asked } = await startOffering({
      description: 'The text of a page.',
      inputSchema: { type: 'object', properties: { id }, ...more },
    });

    expect(definition?.inputSchema).toEqual({ type: 'object', properties: {}, additionalProperties: {} });
    expect(definition?.description).toMatch(/^The text of a page\..*as JSON Schema: \{"type":"object"/s);
    expect((await call(toolbox, 'wiki_get_page', args)).result).toEqual({ result: 'here' });
    expect(asked).toEqual([args]);
  });
});

test('a description of results in any draft does not keep the tool away', async () => {
  const $schema = 'https://json-schema.org/draft/2020-12/schema';
  const { toolbox } = await startOffering({ outputSchema: { $schema, type: 'object' } });

  expect(toolbox.definitions.map(({ name }) => name)).toContain('wiki_get_page');
});

test('a list of tools without end is read in part, and the error says so', async () => {
  let pages = 0;
  const { url } = await startBareServer((_, response) => response.end(), {
    listTools: () => {
      pages += 1;
      const tools = [1, 2, 3].map((one) => ({ name: `t${pages}_${one}`, inputSchema: { type: 'object' } }));
      return { tools, nextCursor: 'more' };
    },
  });
  const server = {
    name: 'wiki',
    tools: ['get_page'],
    timeoutMs: 5_000,
    reach: { kind: 'http' as const, url },
  };

  const error = await failureOf(openMcpSource(server, new AbortController().signal));

  expect(error).toBeInstanceOf(PermanentError);
  expect(error).toHaveProperty(
    'message',
    expect.stringMatching(/has no tool get_page; .* and more \(60 were read\)$/),
  );
});

test.each([
  ['the same', ['get_page', 'get_page']],
  ['told apart by a sign only', ['get_page', 'get.page']],
  ['very long', ['a'.repeat(80), 'a'.repeat(90)]],
])('two tools whose names are %s are refused at start, not in each job', async (_, tools) => {
  const { url } = await startBareServer((__, response) => response.end(), {
    tools: tools.map((name) => ({ name, inputSchema: { type: 'object' } })),
  });
  const server = { name: 'wiki', tools, timeoutMs: 5_000, reach: { kind: 'http' as const, url } };

  const error = await failureOf(openMcpSource(server, new AbortController().signal));

  expect(error).toBeInstanceOf(PermanentError);
  expect(error).toHaveProperty('message', expect.stringContaining('would be the second wiki_'));
});

test('a process that also prints something else is understood', async () => {
  const reach = {
    kind: 'stdio' as const,
    command: process.execPath,
    args: [
      '-e',
      'console.log("Welcome to wiki 1.0 {"); console.log("[]"); await import(process.argv[1])',
      join(import.meta.dirname, 'wiki-stdio.ts'),
    ],
    env: {},
  };
  const { toolbox } = await attach(reach);

  expect((await call(toolbox, 'wiki_get_page', { id: 3 })).result.result).toContain('Page 3');
});

test('a process that writes a line without end is ended, and the gap says why', async () => {
  const script = `
    require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
      const { id, method, params } = JSON.parse(line);
      const tools = [{ name: 'get_page', inputSchema: { type: 'object' } }];
      const { protocolVersion } = params ?? {};
      const serverInfo = { name: 'x', version: '1' };
      const answers = { initialize: { protocolVersion, capabilities: { tools: {} }, serverInfo }, 'tools/list': { tools } };
      if (answers[method]) return console.log(JSON.stringify({ jsonrpc: '2.0', id, result: answers[method] }));
      if (method === 'tools/call') process.stdout.write('x'.repeat(3_000_000));
    });`;
  const reach = { kind: 'stdio' as const, command: process.execPath, args: ['-e', script], env: {} };
  const { toolbox } = await attach(reach, { tools: ['get_page'] }, { maxAnswerBytes: 1_000_000 });

  const { result } = await call(toolbox, 'wiki_get_page', {});

  expect(result.error).toMatch(
    /^wiki_get_page: MCP server wiki, get_page: .*exceeded maximum size of 1000000 bytes/,
  );
  expect(toolbox.gaps()).toEqual(['wiki_get_page']);
});

test.each([
  ['a web page', 'text/html', '<html>Sign in</html>'],
  ['no JSON', 'application/json', 'Sign in'],
  ['half of it', 'application/json', '{"jsonrpc":"2.0","id":1,"resul'],
  ['a stream that ends early', 'text/event-stream', 'event: message\ndata: {"jsonrpc"\n\n'],
  ['another form', 'application/json', '{"jsonrpc":"2.0","id":"?","surprise":[]}'],
])('a call that is answered with %s is a named gap', async (_, type, body) => {
  const { url } = await startBareServer((__, response) => response.setHeader('content-type', type).end(body));
  const { toolbox } = await attach({ kind: 'http', url }, { timeoutMs: 1_000 });

  const { result } = await call(toolbox, 'wiki_get_page', { id: 1 });

  expect(result.error).toMatch(/^wiki_get_page: MCP server wiki, get_page/);
  expect(toolbox.gaps()).toEqual(['wiki_get_page {"id":1}']);
});

test('an answer that nobody waits for any more is not read on', async () => {
  const closed = Promise.withResolvers<void>();
  const { url } = await startBareServer((_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const comments = setInterval(() => response.write(': still working\n\n'), 50);
    response.once('close', () => {
      clearInterval(comments);
      closed.resolve();
    });
  });
  const { toolbox } = await attach({ kind: 'http', url }, { timeoutMs: 300 });

  const { result } = await call(toolbox, 'wiki_get_page', { id: 1 });

  expect(result.error).toMatch(/^wiki_get_page: MCP server wiki, get_page: .*timed out/i);
  await closed.promise;
});

test('what is nested without end is a gap, and the next call works', async () => {
  const deep = `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`;
  let calls = 0;
  const { url } = await startBareServer((answer, response) => {
    calls += 1;
    const plain = answer({ content: [], structuredContent: { x: 'DEEP' } });
    return response.end(calls === 1 ? plain.replace('"DEEP"', deep) : answer(text('here')));
  });
  const { toolbox } = await attach({ kind: 'http', url });

  const first = await call(toolbox, 'wiki_get_page', { id: 1 });

  expect(first).toMatchObject({ isError: true });
  expect((await call(toolbox, 'wiki_get_page', { id: 1 })).result).toEqual({ result: 'here' });
});
