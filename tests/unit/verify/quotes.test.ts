import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { AnswerFile, Message } from '../../../src/agent/messages.ts';
import { toBlocks } from '../../../src/publish/markdown-blocks.ts';
import { checkNote } from '../../../src/verify/check-note.ts';
import { type Document, findDocuments } from '../../../src/verify/documents.ts';
import { findClaims } from '../../../src/verify/find-claims.ts';
import { countVerified, markNote, toObjection } from '../../../src/verify/mark-note.ts';

const LOG = [
  'section_start:1700000000:step_script\r\u001b[0K\u001b[32;1m$ npm test\u001b[0;m',
  '2026-11-18T10:00:01.123456Z 01O \u001b[31mFAIL\u001b[0m  src/cart.test.ts > totals > rounds half up',
  '2026-11-18T10:00:01.123999Z 01O AssertionError: expected   1512 to be 1513',
  '    at Object.<anonymous> (src/cart.test.ts:42:7)',
  'Login with token=[MASKED] was refused by registry.example.com',
  'npm ERR! code ELIFECYCLE',
  ...Array.from({ length: 60 }, (_, at) => `noise of the runner, part ${at}`),
  'He said “stop” — and it stopped',
  'ERROR: Job failed: exit code 1',
].join('\n');
const JOB = 'https://gitlab.test/shop/checkout/-/jobs/7';

/** One log of job 7, fetched into a file. */
async function check(
  note: string,
  options: { log?: string; kind?: AnswerFile['kind']; stored?: string; args?: Record<string, unknown> } = {},
) {
  const { log = LOG, kind = 'log', stored = log, args = { job_id: 7 } } = options;
  const sha256 = createHash('sha256').update(log).digest('hex');
  const tool = kind === 'log' ? 'gitlab_get_job_log' : 'gitlab_get_test_report';
  const file = {
    path: '/tmp/data/a',
    sha256,
    bytes: Buffer.byteLength(log),
    tool,
    args,
    kind,
  };
  const message = { role: 'tool', toolCallId: 'c', name: tool, content: '{}', isError: false } as const;
  const documents = findDocuments([{ ...message, files: [file] }], () => Readable.from(chunksOf(stored)));
  return checkNote(note, {
    documents,
    findOwnJobs: async (links) => new Map(links.map(({ url }) => [url, true])),
    signal: new AbortController().signal,
  });
}

const fence = (...lines: string[]) => ['```log', ...lines, '```'].join('\n');
const kinds = async (note: string, options?: Parameters<typeof check>[1]) =>
  (await check(note, options)).quotes.map(({ verdict }) => verdict.kind);

describe('a quote is verified', () => {
  test.each([
    ['as it is', 'AssertionError: expected   1512 to be 1513'],
    ['with blanks collapsed', 'AssertionError: expected 1512 to be 1513'],
    ['without the stamp and colours', 'FAIL src/cart.test.ts > totals > rounds half up'],
    ['with the number of its line', '3: AssertionError: expected 1512 to be 1513'],
    ['as a preview shows it', '3|AssertionError: expected 1512 to be 1513'],
    ['as grep shows it', '/tmp/data/a:3:AssertionError: expected 1512 to be 1513'],
    ['as a preview shows a repeated line', 'npm ERR! code ELIFECYCLE [3 times]'],
    ['that is part of a line', 'src/cart.test.ts:42:7'],
    ['with an ellipsis at its ends', '… expected 1512 to be …'],
    ['with an ellipsis in its middle', 'FAIL src/cart.test.ts ... rounds half up'],
    ['with a gap of a preview', 'FAIL [… 12 bytes] totals > rounds half up'],
    ['with a gap in other words', 'FAIL [... 2 lines omitted ...] totals > rounds'],
    ['with a secret hidden', 'Login with token=[redacted: token] was refused'],
    ['with what the log hides', 'Login with token=hunter2 was refused by registry'],
    ['with escaped signs', 'at Object.&lt;anonymous&gt; (src/cart.test.ts:42:7)'],
    ['with other quotation marks', 'He said "stop" - and it stopped'],
  ])('%s', async (_how, line) => {
    expect(await kinds(fence(line))).toEqual(['verified']);
  });

  test('of several lines, in order, with gaps', async () => {
    const note = fence('FAIL src/cart.test.ts', '}', 'npm ERR! code ELIFECYCLE', '…', 'ERROR: Job failed');
    expect(await kinds(note)).toEqual(['verified']);
  });

  test('in a block quote under a link, whatever its formatting', async () => {
    const note = `[unit, line 3](${JOB}#L3):\n\n> **AssertionError**: expected 1512 \\to be \`1513\``;
    expect(await kinds(note.replace('\\to', 'to'))).toEqual(['verified']);
  });

  test('in JSON, where its lines are one', async () => {
    const log = JSON.stringify({ tests: [{ output: 'Error: "a" is\n\tnot b\n  at x.ts:3' }] }, null, 2);
    const options = { log, kind: 'json' } as const;
    expect(await kinds(fence('Error: "a" is', 'not b', 'at x.ts:3'), options)).toEqual(['verified']);
    expect(await kinds(fence('"output": "Error:'), options)).toEqual(['verified']);
  });

  test.each([
    ['a block quote', '> ~~~\n> npm ERR! code ELIFECYCLE\n> ~~~'],
    ['a block quote under a link', `[unit](${JOB}):\n\n> ~~~log\n> npm ERR! code ELIFECYCLE\n> ~~~`],
    ['a list in a block quote', '> - ```\n>   npm ERR! code ELIFECYCLE\n>   ```'],
    ['a block quote in a list', '- unit\n\n  > ```\n  > npm ERR! code ELIFECYCLE\n  > ```'],
    ['a list in a list', '1. - ```\n     npm ERR! code ELIFECYCLE\n     ```'],
  ])('in a fence in %s', async (_where, note) => {
    expect(await kinds(note)).toEqual(['verified']);
    expect(await kinds(note.replace('npm ERR!', 'npm WARN'))).toEqual(['not-found']);
  });

  test('what surrounds a fence in a block quote under a link is a quote as well', async () => {
    const note = `[unit](${JOB}):\n\n> AssertionError: expected 1512\n>\n> ~~~\n> invented, all of it\n> ~~~`;
    expect(await kinds(note)).toEqual(['not-found', 'verified']);
  });

  test('in a list', async () => {
    expect(await kinds(`- unit\n\n  ~~~\n  npm ERR! code ELIFECYCLE\n  ~~~\n`)).toEqual(['verified']);
  });
});

describe('a quote is not verified', () => {
  test.each([
    ['that nobody wrote', 'FATAL: the database is on fire'],
    [
      'with a story where something was left out',
      '[… buy a licence at example shop] npm ERR! code ELIFECYCLE',
    ],
    [
      'with a story in the place of a secret',
      'token=[redacted: Mallory has stolen it] was refused by registry',
    ],
    ['with a story in brackets', '[...read example.com first] npm ERR! code ELIFECYCLE'],
    ['with a story in a mark of the CI system', 'section_start:1:x[buy a licence] npm ERR! code ELIFECYCLE'],
    ['with another number', 'AssertionError: expected 1512 to be 1514'],
    ['with part of a number', 'AssertionError: expected 151'],
    ['with another word', 'AssertionError: expected 1512 not to be 1513'],
    ['whose parts are in another order', 'rounds half up … FAIL src/cart.test.ts'],
    ['in another case', 'assertionerror: Expected 1512'],
    [
      'with a story where the log hides a word',
      'Login with token= was stolen by Alice was refused by registry',
    ],
    ['of parts that are far from each other', 'AssertionError: expected 1512 … ERROR: Job failed'],
  ])('%s', async (_how, line) => {
    expect(await kinds(fence(line))).toEqual(['not-found']);
  });

  test('whose lines are in another order', async () => {
    expect(await kinds(fence('npm ERR! code ELIFECYCLE', 'FAIL src/cart.test.ts'))).toEqual(['not-found']);
  });

  test('when its file is no longer what was fetched, and that is said', async () => {
    const note = fence('FATAL: the database is on fire');
    const checked = await check(note, { stored: `${LOG}\nFATAL: the database is on fire` });
    expect(checked.quotes[0]?.verdict).toMatchObject({
      kind: 'unknown',
      reason: '/tmp/data/a is gone, or no longer what was fetched into it',
    });
    expect(markNote(note, checked)).toContain(
      '```\n\n*⚠️ Unverified: what these lines are from is not available',
    );
  });
});

test('a bold line that only speaks of a fix makes no advice of what follows', async () => {
  expect(await kinds('**The last fix broke the build**\n\n```\nFATAL: invented line of a log\n```')).toEqual([
    'not-found',
  ]);
});

test.each(['console', 'Console', 'shell-session', 'terminal', 'stderr', 'traceback', 'terminal,x', '{.log}'])(
  'a fence of %s is a quote, but not as advice',
  async (language) => {
    const block = ['```', language, '\nFATAL: the database is on fire\n```'].join('');
    expect(await kinds(block)).toEqual(['not-found']);
    expect(await kinds(`### What to do\n\n${block}`)).toEqual([]);
  },
);

test.each(['python', 'json', 'sh', 'ts'])(
  'a fence of %s right under the link of a job is a quote',
  async (language) => {
    const block = ['```', language, '\nFATAL: the database is on fire\n```'].join('');
    expect(await kinds(`[unit, line 3](${JOB}#L3):\n\n${block}`)).toEqual(['not-found']);
    expect(await kinds(`[unit](${JOB}) says:\n\n${block}`)).toEqual(['not-found']);
    expect(await kinds(`[unit, line 3](${JOB}#L3) fails.\n\nIt has this code:\n\n${block}`)).toEqual([]);
    expect(await kinds(`### Fix\n\nAs of [unit, line 3](${JOB}#L3):\n\n${block}`)).toEqual([]);
  },
);

test.each([
  ['an indented line', '    ```ts\n```log\nFATAL: the database is on fire\n```'],
  ['an item of a list', '- ```ts\nwords\n```log\nFATAL: the database is on fire\n```'],
])('%s that looks like the beginning of code hides no quote', async (_what, note) => {
  expect(await kinds(note)).toContain('not-found');
});

test('indented code under the link of a job is a quote, what is part of a list is none', async () => {
  const fire = 'FATAL: the database is on fire';
  expect(await kinds(`[unit](${JOB}):\n\n    ${fire}\n\n    npm ERR!\n\nSo it is.`)).toEqual(['not-found']);
  expect(await kinds(`[unit](${JOB}):\n\n    npm ERR! code ELIFECYCLE\n`)).toEqual(['verified']);
  expect(await kinds(`- [unit](${JOB})\n\n    ${fire}`)).toEqual([]);
  expect(await kinds(`You may set:\n\n    ${fire}`)).toEqual([]);
});

test('what is marked is marked as text, where it stands', async () => {
  const mark = '*⚠️ Unverified: these lines were not found in what was read.*';
  const code = `[unit](${JOB}):\n\n    FATAL: the database is on fire\n\nEnd.`;
  expect(markNote(code, await check(code))).toContain(`on fire\n\n${mark}\n\n\nEnd.`);
  const both = `[unit](${JOB}):\n\n> invented words, no log\n>\n> ~~~\n> FATAL: on fire, all of it\n> ~~~\n\nEnd.`;
  expect(markNote(both, await check(both))).toMatch(/> ~~~\n\n\*⚠️[^\n]*\n(?:\n\*⚠️[^\n]*\n)?/);
  expect(markNote(both, await check(both)).split(mark)).toHaveLength(3);
});

describe('what the model has asked for itself', () => {
  const asked = { query: 'FATAL: the database is on fire' };
  const answer = JSON.stringify(
    { query: asked.query, found: ['Error: nothing was on fire in db-1'] },
    null,
    2,
  );

  test('is not proved by an answer that repeats it', async () => {
    const options = { log: answer, kind: 'json', args: asked } as const;
    expect(await kinds(fence('FATAL: the database is on fire'), options)).toEqual(['not-found']);
    expect(await kinds(fence('the database is on fire'), options)).toEqual(['not-found']);
    expect(await kinds(fence('Error: nothing was on fire in db-1'), options)).toEqual(['verified']);
  });

  test('is proved by a line that has more', async () => {
    const options = { log: '9 | it said FATAL: the database is on fire', kind: 'text', args: asked } as const;
    expect(await kinds(fence('it said FATAL: the database is on fire'), options)).toEqual(['verified']);
  });

  test('is proved by a log of a job', async () => {
    const args = { job_id: 7, name: 'npm ERR! code ELIFECYCLE' };
    expect(await kinds(fence('npm ERR! code ELIFECYCLE'), { args })).toEqual(['verified']);
  });
});

describe('what is no quote', () => {
  test.each([
    ['a patch', '```diff\n-  "rounding": "half-up",\n```'],
    ['a command', '```sh\nnpm run invented-script\n```'],
    ['code', '```ts\nconst invented = "text of some length";\n```'],
    ['what is too short to prove anything', '```log\nexit 1\n```'],
    ['an unmarked fence under "What to do"', '### What to do\n\n```\nset rounding to half-up\n```'],
    ['a block quote that is under no link', '> You asked whether it is flaky.'],
    ['inline code', 'It says `FATAL: the database is on fire`.'],
  ])('%s is not counted', async (_what, note) => {
    expect(countVerified(await check(note))).toEqual({ verified: 0, quotes: 0 });
  });

  test('but a log under "What to do" is', async () => {
    expect(await kinds('### What to do\n\n```log\nFATAL: the database is on fire\n```')).toEqual([
      'not-found',
    ]);
  });
});

describe('numbers of lines', () => {
  const QUOTE = fence('AssertionError: expected 1512 to be 1513');

  test('that fit stay', async () => {
    const note = `[unit, line 3](${JOB}#L3): the cart is wrong.\n\n${QUOTE}`;
    const checked = await check(note);
    expect(toObjection(checked)).toBeNull();
    expect(markNote(note, checked)).toBe(note);
  });

  test('that are wrong are put right, where the quote is right', async () => {
    const note = `[unit, line 55](${JOB}#L55): the cart is wrong.\n\n${QUOTE}`;
    const checked = await check(note);
    expect(toObjection(checked)).toBeNull();
    expect(markNote(note, checked)).toBe(note.replace('line 55', 'line 3').replace('#L55', '#L3'));
    const numbered = fence('9: npm ERR! code ELIFECYCLE', '66|noise of the runner, part 59');
    expect(markNote(numbered, await check(numbered))).toBe(numbered.replace('9: npm', '6: npm'));
  });

  test('of the occurrence that is meant, if there are several', async () => {
    const log = Array.from({ length: 40 }, (_, at) => (at % 10 === 0 ? 'Error: the same again' : '.')).join(
      '\n',
    );
    const note = `${JOB}#L21\n\n${fence('Error: the same again')}`;
    expect(markNote(note, await check(note, { log }))).toBe(note);
  });

  test('that the log does not have are taken off', async () => {
    const note = `See [unit, line 900](${JOB}#L900).`;
    const checked = await check(note);
    expect(toObjection(checked)).toContain('the log has 68 lines');
    expect(markNote(note, checked)).toBe(`See [unit, line 900](${JOB}) (line not verified).`);
  });

  const written = ['9'.repeat(12), '900'].map((line) => `${JOB}#L${line}`);
  test.each([...written, `${JOB}?page=1#L900`, `${JOB}?${'x'.repeat(300)}#L900`, `${JOB}/#L900`])(
    'are looked at however they are written: %s',
    async (url) => {
      const [bare = ''] = url.split('#');
      expect(markNote(`See ${url}.`, await check(`See ${url}.`))).toBe(`See ${bare}.`);
    },
  );

  test('are looked at in italics, too', async () => {
    expect(markNote(`_${JOB}#L900_`, await check(`_${JOB}#L900_`))).toBe(`_${JOB}_`);
  });

  test('of a log that was not fetched are taken off', async () => {
    const note = 'See https://gitlab.test/shop/checkout/-/jobs/8#L1.';
    expect(markNote(note, await check(note))).toBe('See https://gitlab.test/shop/checkout/-/jobs/8.');
  });
});

test('a quote under the link of another job is not verified, and the right job is named', async () => {
  const note = `[unit](${JOB.replace('7', '8')}):\n\n${fence('npm ERR! code ELIFECYCLE')}`;
  const checked = await check(note);
  expect(toObjection(checked)).toContain('not in the log of the linked job, but in that of job 7');
  expect(markNote(note, checked)).toContain('*⚠️ Unverified: these lines are from job 7.*');
});

test('whose log it is is known even if a server gives the calls of all turns the same id', () => {
  const messages = [7, 8].flatMap((job_id): Message[] => [
    {
      role: 'assistant',
      content: '',
      toolCalls: [{ id: 'call_0', name: 'gitlab_get_job_log', arguments: { job_id } }],
    },
    {
      role: 'tool',
      toolCallId: 'call_0',
      name: 'gitlab_get_job_log',
      content: JSON.stringify({ result: `log of ${job_id}` }),
      isError: false,
      isSourced: true,
    },
  ]);
  const documents = findDocuments(messages, () => Readable.from([]));
  expect(documents.map(({ job }) => job)).toEqual([7, 8]);
});

test('the objection names what was not found, and only that', async () => {
  const objection = toObjection(
    await check(`${fence('FATAL: on fire, all of it')}\n\n${fence('npm ERR! code ELIFECYCLE')}`),
  );
  expect(objection).toContain('"FATAL: on fire, all of it" is in nothing that was fetched');
  expect(objection).not.toContain('ELIFECYCLE');
});

const word = fc.stringMatching(/^[a-z]{3,9}$/);
const logs = fc.array(
  fc.array(word, { minLength: 3, maxLength: 9 }).map((words) => words.join(' ')),
  { minLength: 1, maxLength: 30 },
);

test('any part of a fetched line is verified', async () => {
  await fc.assert(
    fc.asyncProperty(logs, fc.nat(), fc.nat(), async (lines, which, from) => {
      const line = lines[which % lines.length] ?? '';
      const start = from % Math.max(1, line.length - 11);
      const quoted = line.slice(start, start + 11 + (from % 7));
      expect(await kinds(fence(quoted), { log: lines.join('\n') })).toEqual(
        quoted.replaceAll(' ', '').length < 8 ? [] : ['verified'],
      );
    }),
    { numRuns: 200 },
  );
});

test('a line with a changed letter is not verified', async () => {
  await fc.assert(
    fc.asyncProperty(logs, fc.nat(), fc.nat(), async (lines, which, at) => {
      const line = lines[which % lines.length] ?? '';
      const place = at % line.length;
      // A letter that no line has.
      const changed = `${line.slice(0, place)}Ω${line.slice(place + 1)}`;
      expect(await kinds(fence(changed), { log: lines.join('\n') })).toEqual(['not-found']);
    }),
    { numRuns: 200 },
  );
});

test.each([
  '`'.repeat(50_000),
  '> '.repeat(20_000),
  `${JOB}#L1 `.repeat(3_000),
  '[MASKED]'.repeat(5_000),
  '…'.repeat(50_000),
])('a strange note takes no long time (%#)', async (note) => {
  const started = performance.now();
  await check(`${note}\n\n${fence(note, 'npm ERR! code ELIFECYCLE')}`);
  expect(performance.now() - started).toBeLessThan(3_000);
});

/** Small ones, so that lines and characters are broken. */
function chunksOf(text: string): Buffer[] {
  const bytes = Buffer.from(text);
  return Array.from({ length: Math.ceil(bytes.length / 50) }, (_, at) =>
    bytes.subarray(at * 50, at * 50 + 50),
  );
}

const FIRE = fence('FATAL: the database is on fire');

function checkLarge(
  change: Partial<Document>,
  options: { signal?: AbortSignal; maxTotalBytes?: number; maxMs?: number } = {},
) {
  const { signal = new AbortController().signal, maxTotalBytes = 1e12, maxMs = 60_000 } = options;
  const document: Document = {
    ...{ job: 7, kind: 'log', bytes: 1e9, name: '/tmp/data/big.log', sha256: '', asked: [] },
    open: () => Readable.from([]),
    ...change,
  };
  const findOwnJobs = async () => new Map();
  return checkNote(FIRE, { documents: [document], findOwnJobs, signal, limits: { maxTotalBytes, maxMs } });
}

async function* endless() {
  while (true) yield Buffer.from('a line of the log\n'.repeat(1_000));
}

test('an abort ends the search', async () => {
  const abort = new AbortController();
  const checking = checkLarge({ open: endless }, { signal: abort.signal });
  abort.abort(new Error('enough'));
  await expect(checking).rejects.toThrow('enough');
});

test('a file that has become larger is read no further than it was', async () => {
  const checked = await checkLarge({ bytes: 100_000, open: endless });
  expect(toObjection(checked)).toContain('/tmp/data/big.log is gone, or no longer what was fetched into it');
});

test('what is too large is not read, and the quote is said to be unchecked', async () => {
  const checked = await checkLarge(
    {
      open() {
        throw new Error('it was read');
      },
    },
    { maxTotalBytes: 1e8 },
  );
  expect(toObjection(checked)).toContain('/tmp/data/big.log is too large to be checked');
});

test('what takes too long is given up', async () => {
  expect(toObjection(await checkLarge({ open: endless }, { maxMs: 50 }))).toContain('no time left to check');
});

test.each([
  ['fences that do not end', '~~~diff\n```log\nx\n```\n', ''],
  ['fences that end far behind', '~~~diff\n```log\nx\n```\n', '~~~\n'],
  ['fences whose ends are too short', '~~~~~diff\n~~~~\n', ''],
  ['a block quote', '> a\n', ''],
  ['indented code', 'a\n\n    b\n', ''],
])('a long note of %s takes no long time', (_what, piece, end) => {
  const note = piece.repeat(200_000 / piece.length) + end;
  const started = performance.now();
  findClaims(note);
  expect(performance.now() - started).toBeLessThan(3_000);
});

describe('the link of a job of others', () => {
  const others = (note: string) =>
    checkNote(note, {
      documents: [],
      findOwnJobs: async (links) =>
        new Map(
          links.map(({ url, projectPath, jobId }) => [url, projectPath === 'shop/checkout' && jobId === 7]),
        ),
      signal: new AbortController().signal,
    });

  test.each([
    ['as it is', 'https://gitlab.test/shop/payroll/-/jobs/9'],
    ['up from one of ours', `${JOB}/../9`],
    ['up from one of ours, encoded', `${JOB}/%2e%2e/9#L3`],
    ['up to another project', `${JOB}/../../../../payroll/-/jobs/9`],
    ['with zeros', `https://gitlab.test/shop/payroll/-/jobs/${'9'.padStart(16, '0')}`],
    ['with two slashes', 'https://gitlab.test/shop//payroll/-/jobs/9'],
    ['with a dot', 'https://gitlab.test/shop/payroll/-/./jobs/9'],
    ['with encoded letters', 'https://gitlab.test/shop/payroll/%2D/%6aobs/9'],
  ])('is taken off: %s', async (_how, url) => {
    const note = `See [the cause](${url}), or ${url} or ${JOB}.`;
    expect(markNote(note, await others(note))).toBe(`See the cause, or job 9 or ${JOB}.`);
  });

  test('is taken off behind many others, and of very many each one that nobody has looked at', async () => {
    const foreign = 'https://gitlab.test/shop/payroll/-/jobs/9';
    const often = `${`${JOB}, `.repeat(80)}${foreign}`;
    expect(markNote(often, await others(often))).toBe(`${`${JOB}, `.repeat(80)}job 9`);
    const many = Array.from({ length: 70 }, (_, at) => `${foreign}${at}`).join('\n');
    const checked = await others(many);
    expect(markNote(many, checked)).not.toContain('https://');
    expect(toObjection(checked)).toContain('no job of a pipeline of this merge request');
    const ours = Array.from({ length: 70 }, (_, at) => `${JOB}?page=${at}`).join('\n');
    expect(markNote(ours, await others(ours))).toBe(ours);
  });
});

describe('what a block shows when it is posted', () => {
  const fire = 'FATAL: the database is on fire';
  const TRUE = 'npm ERR! code ELIFECYCLE';
  /** The lines of its blocks that look like those of a log. */
  const shownAsLog = (note: string): string =>
    toBlocks(note.split('\n'))
      .filter(({ kind, lines }) => kind === 'code' && /^ *(?:`{3,}|~{3,})(?:log)?$/.test(lines[0] ?? ''))
      .flatMap(({ lines }) => lines)
      .join('\n');

  test.each([
    ['a closing mark far to the right', `\`\`\`log\n${TRUE}\n    \`\`\`\n${fire}\n\`\`\``],
    ['code in an item of a list', `- \`\`\`ts\n  \`\`\`\n${fire}\n\`\`\``],
    ['code in an item of a list that ends', `- \`\`\`ts\nwords\n\`\`\`\n${fire}\n\`\`\``],
    ['a log in an item of a list', `- \`\`\`log\n  ${TRUE}\n  \`\`\`\n${fire}\n\`\`\``],
    ['an indent that is too deep for code', `${' '.repeat(24)}\`\`\`ts\n\`\`\`\n${fire}\n\`\`\``],
    ['several of them', `1. ~~~ts\n~~~\n${fire}\n~~~`],
  ])('is a quote, or text: behind %s', async (_what, note) => {
    const all = await kinds(note);
    expect(shownAsLog(note).includes(fire)).toBe(all.includes('not-found'));
  });
});
