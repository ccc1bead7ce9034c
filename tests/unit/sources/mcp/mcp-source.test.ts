import { gzipSync } from 'node:zlib';
import { describe, expect, onTestFinished, test } from 'vitest';
import { PermanentError, RetryableError } from '../../../../src/errors.ts';
import type { McpReach, McpServer } from '../../../../src/sources/mcp/server.ts';
import { type McpSource, openMcpSource } from '../../../../src/sources/mcp/source.ts';
import { failureOf, resolveTo, startServer } from '../../gitlab/gitlab-server.ts';
import { call } from '../../tools/calling.ts';
import { attach, STDIO, TOOLS } from './attach.ts';
import { startBareServer } from './bare-server.ts';
import { startWiki } from './wiki-http.ts';

describe.each(['stdio', 'http'] as const)('a server over %s', (kind) => {
  const reach = async (): Promise<McpReach> =>
    kind === 'stdio' ? STDIO : { kind: 'http', url: (await startWiki()).url };

  test('gives the tools that were chosen, and no others, named after it', async () => {
    const { toolbox } = await attach(await reach(), { notes: 'Look for the runbook first.' });

    const offered = toolbox.definitions.filter(({ name }) => name.startsWith('wiki_'));
    expect(offered).toMatchObject([
      {
        name: 'wiki_search_pages',
        description: 'Finds pages of the wiki.',
        inputSchema: {
          type: 'object',
          properties: { words: { type: 'string', minLength: 2 }, limit: { type: 'integer', maximum: 50 } },
          required: ['words'],
        },
      },
      { name: 'wiki_get_page' },
    ]);
    expect(toolbox.notes).toContain('## Data source: wiki\n\nLook for the runbook first.');
  });

  test('answers with structure, with text, and with files for what is large', async () => {
    const { toolbox, sandbox } = await attach(await reach());

    const found = await call(toolbox, 'wiki_search_pages', { words: 'runners' });
    const page = await call(toolbox, 'wiki_get_page', { id: 3 });
    const large = await call(toolbox, 'wiki_get_page', { id: 9 });
    const fetched = await call(toolbox, 'fetch_to_sandbox', {
      tool: 'wiki_get_page',
      args: { id: 9 },
      path: '/tmp/data/page.txt',
    });

    expect(found.result).toEqual({ result: { pages: [{ id: 7, title: 'Über runners 🐦' }] } });
    expect(page.result).toEqual({ result: 'Page 3\n[image, image/png: left out]' });
    expect(large.result).toMatchObject({ saved_to: '/tmp/_out/2.txt', bytes: 250_029 });
    expect(fetched.result).toMatchObject({ saved_to: '/tmp/data/page.txt', bytes: 250_029 });
    expect(sandbox.files.get('/tmp/data/page.txt')?.toString()).toMatch(/^line\n/);
  });

  test('refuses wrong arguments before they are sent, and names what the tool could not do', async () => {
    const { toolbox } = await attach(await reach());

    const wrong = await call(toolbox, 'wiki_search_pages', { words: 1 });
    const missing = await call(toolbox, 'wiki_get_page', { id: 404 });

    expect(wrong.result.error).toContain('wiki_search_pages was called with wrong arguments');
    expect(missing.result.error).toMatch(/^wiki_get_page: There is no page 404 /);
    expect(toolbox.gaps()).toEqual(['wiki_get_page {"id":404}']);
  });

  test('is not waited for without end, and is left at once by an abort', async () => {
    const slow = await attach(await reach(), { tools: ['sleep'], timeoutMs: 1_000 });
    const controller = new AbortController();
    const reason = new Error('a newer commit was pushed');

    const late = await call(slow.toolbox, 'wiki_sleep');
    const aborted = call(slow.toolbox, 'wiki_sleep', {}, controller.signal);
    controller.abort(reason);

    expect(late.result.error).toMatch(/^wiki_sleep: MCP server wiki, sleep: .*timed out.*name the gap/i);
    await expect(aborted).rejects.toBe(reason);
  });
});

describe('what is configured and not there', () => {
  const open = (more: Partial<McpServer>) =>
    failureOf(
      openMcpSource(
        { name: 'wiki', tools: TOOLS, timeoutMs: 5_000, reach: STDIO, ...more },
        new AbortController().signal,
      ),
    );

  test('is an error that says what there is', async () => {
    const error = await open({ tools: ['get_pages'] });

    expect(error).toBeInstanceOf(PermanentError);
    expect(error).toHaveProperty(
      'message',
      expect.stringMatching(/no tool get_pages;.* It has: search_pages, get_page/),
    );
  });

  test('a tool that says it writes is refused, although it was chosen', async () => {
    expect(await open({ tools: ['delete_page'] })).toHaveProperty(
      'message',
      expect.stringContaining('delete_page of MCP server wiki says that it does not only read'),
    );
  });

  test('a program that is not installed is named', async () => {
    const error = await open({ reach: { kind: 'stdio', command: 'no-such-mcp', args: [], env: {} } });

    expect(error).toBeInstanceOf(PermanentError);
    expect(error).toHaveProperty('message', expect.stringContaining('no-such-mcp'));
  });

  test.each([401, 403, 500, 503])('a server that answers %i is an error', async (status) => {
    const { url } = await startServer((_, response) => response.writeHead(status).end('token hush is wrong'));

    const error = await open({ reach: { kind: 'http', url, token: 'hush' } });

    expect(error).toBeInstanceOf(status < 500 ? PermanentError : RetryableError);
    expect(error).toHaveProperty('message', expect.stringContaining('MCP server wiki'));
    expect(error).not.toHaveProperty('message', expect.stringContaining('hush'));
  });

  test.each(['http://169.254.169.254/mcp', 'http://[fd00:ec2::254]/mcp'])(
    '%s is never asked',
    async (url) => {
      expect(await open({ reach: { kind: 'http', url } })).toHaveProperty(
        'message',
        expect.stringContaining('an address that is never connected to'),
      );
    },
  );

  test('a name that leads to such an address is not asked either', async () => {
    const reach = { kind: 'http' as const, url: 'http://wiki.example.com/mcp' };
    const server = { name: 'wiki', tools: TOOLS, timeoutMs: 5_000, reach };
    const lookup = resolveTo('169.254.169.254');

    expect(await failureOf(openMcpSource(server, new AbortController().signal, { lookup }))).toHaveProperty(
      'message',
      expect.stringContaining('wiki.example.com leads to 169.254.169.254'),
    );
  });

  test('a redirect to another host is not followed, and the token does not go there', async () => {
    const other = await startServer((_, response) => response.end('{}'));
    const { url } = await startServer((_, response) =>
      response.writeHead(307, { location: `${other.url}/mcp` }).end(),
    );

    await open({ reach: { kind: 'http', url, token: 'hush' } });

    expect(other.requests).toEqual([]);
  });
});

describe('an answer over HTTP', () => {
  const PAGE = { content: [{ type: 'text', text: 'x'.repeat(2_000_000) }] };
  const open = (url: string) => {
    const server = { name: 'wiki', tools: TOOLS, timeoutMs: 5_000, reach: { kind: 'http' as const, url } };
    return openMcpSource(server, new AbortController().signal, { maxAnswerBytes: 1_000_000 });
  };
  const getPage = ({ source, close }: McpSource) => {
    onTestFinished(close);
    const tool = source.tools.find(({ name }) => name === 'wiki_get_page');
    return failureOf(Promise.resolve(tool?.read({ id: 1 } as never, new AbortController().signal)));
  };

  test('is given up when it is too large', async () => {
    const { url } = await startBareServer((answer, response) => response.end(answer(PAGE)));

    const error = await getPage(await open(url));

    expect(error).toBeInstanceOf(PermanentError);
    expect(error).toHaveProperty('message', expect.stringMatching(/get_page: .*exceeded max size/));
  });

  test('is asked for plain, and not unpacked', async () => {
    const { url, encodings } = await startBareServer((answer, response) =>
      response.setHeader('content-encoding', 'gzip').end(gzipSync(answer(PAGE))),
    );

    const error = await getPage(await open(url));

    expect(error).toBeInstanceOf(PermanentError);
    expect(error).toHaveProperty('message', expect.stringContaining('sent its answer packed ("gzip")'));
    expect(new Set(encodings)).toEqual(new Set(['identity']));
  });
});

test('a process gets a minimal environment and what was named, nothing else of ours', async () => {
  process.env.HUMMINGBIRD_TEST_SECRET = 'must-not-leak';
  onTestFinished(() => {
    delete process.env.HUMMINGBIRD_TEST_SECRET;
  });
  const { toolbox } = await attach(STDIO, { tools: ['get_environment'] });

  const { result } = await call(toolbox, 'wiki_get_environment');

  const env: unknown = JSON.parse(String(result.result));
  // It was there, or it would not have been taken out.
  expect(env).toMatchObject({ WIKI_TOKEN: '[secret]', PATH: expect.any(String) });
  expect(JSON.stringify(env)).not.toContain('must-not-leak');
});

test('variables too short to be secrets stay in what is answered', async () => {
  const reach = { ...STDIO, env: { WIKI_DEBUG: '1' } };
  const { toolbox } = await attach(reach, { tools: ['get_page'] });

  const { result } = await call(toolbox, 'wiki_get_page', { id: 1 });

  expect(result.result).toContain('Page 1');
});

test.each([
  ['an error', (text: string) => ({ isError: true, content: [{ type: 'text', text }] })],
  ['a text', (text: string) => ({ content: [{ type: 'text', text }] })],
  ['structure', (text: string) => ({ content: [], structuredContent: { you: [text] } })],
])('a token that is echoed in %s is taken out', async (_, toResult) => {
  const { url } = await startBareServer((answer, response, authorization) =>
    response.end(answer(toResult(`you are ${authorization}`))),
  );
  const { toolbox } = await attach({ kind: 'http', url, token: 'hush' });

  const { result } = await call(toolbox, 'wiki_get_page', {});

  expect(JSON.stringify(result)).toContain('you are Bearer [secret]');
  expect(JSON.stringify(result)).not.toContain('hush');
});

test('an error is not longer than a message should be', async () => {
  const failed = { isError: true, content: [{ type: 'text', text: 'no '.repeat(100_000) }] };
  const { url } = await startBareServer((answer, response) => response.end(answer(failed)));
  const { source } = await attach({ kind: 'http', url });

  const error = await failureOf(
    Promise.resolve(source.tools[1]?.read({} as never, new AbortController().signal)),
  );

  expect(error).toHaveProperty('message', expect.stringMatching(/^no no .{1990,2100}$/));
});

test('the token is sent with every request over HTTP', async () => {
  const wiki = await startWiki();
  const { toolbox } = await attach({ kind: 'http', url: wiki.url, token: 'hush' });

  await call(toolbox, 'wiki_get_page', { id: 1 });

  expect(new Set(wiki.seen)).toEqual(new Set(['Bearer hush']));
});

test('a token that is echoed in how the tools are described is taken out', async () => {
  const inputSchema = { type: 'object', properties: { id: { type: 'string', description: 'hush-hush' } } };
  const tools = ['get_page', 'search_pages'].map((name) => ({
    name,
    description: 'you are hush',
    inputSchema,
  }));
  const { url } = await startBareServer((_, response) => response.end(), { tools });

  const { toolbox } = await attach({ kind: 'http', url, token: 'hush' });

  const told = JSON.stringify(toolbox.definitions);
  expect(told).toContain('you are [secret]');
  expect(told).not.toContain('hush');
});
