import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createGitlabSource } from '../../../src/sources/gitlab/source.ts';
import type { ToolLimits } from '../../../src/tools/limits.ts';
import { createToolbox } from '../../services/redactor.ts';
import { answerJson, createClient, startServer } from '../gitlab/gitlab-server.ts';
import { call } from './calling.ts';
import { createMemorySandbox } from './memory-sandbox.ts';

test('a list whose pages each come in time, but not all together, is a named gap', async () => {
  const { url } = await startServer(async (_, response, count) => {
    await sleep(60);
    const next = `<${url}/api/v4/projects/1/merge_requests/7/commits?page=${count + 1}&per_page=100>; rel="next"`;
    answerJson(response, [{ id: 'a'.repeat(40) }], {
      headers: { link: next, 'x-next-page': String(count + 1) },
    });
  });
  const toolbox = attach(url, { maxReadMs: 200 });

  const { result } = await call(toolbox, 'gitlab_list_commits');

  expect(result.error).toMatch(
    /^gitlab_list_commits: the answer was not whole within 0.2 s and was given up/,
  );
  expect(toolbox.gaps()).toEqual(['gitlab_list_commits']);
});

test('a log that drips for ever is a named gap, and what fetched it goes on', async () => {
  const { url } = await startServer((_, response) => {
    response.writeHead(200, { 'content-type': 'text/plain' });
    const drip = setInterval(() => response.write('.'), 20);
    response.once('close', () => clearInterval(drip));
  });
  const toolbox = attach(url, { maxStreamMs: 200 });

  const { result } = await call(toolbox, 'gitlab_get_job_log', { job_id: 5 });

  expect(result.error).toMatch(/^gitlab_get_job_log: the answer was not whole within 0.2 s and was given up/);
  expect(toolbox.gaps()).toEqual(['gitlab_get_job_log {"job_id":5}']);
});

function attach(url: string, limits: Partial<ToolLimits>) {
  const source = createGitlabSource(createClient(url), { projectId: 1, mrIid: 7, sha: 'a'.repeat(40) });
  return createToolbox({ sandbox: createMemorySandbox(), sources: [source], limits });
}
