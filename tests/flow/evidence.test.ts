// What a note quotes is held against what was fetched, before it is posted.
import { expect, test } from 'vitest';
import { type ModelScript, textOf } from '../services/model.ts';
import { arrange, ask, failPipeline, lastRequest, lastUser, noteOf, scene, start } from './story-scene.ts';

const TRUE_LINE = 'AssertionError: expected 10.00 to equal 10.01';
const INVENTED = 'FATAL: the database has run out of connections';
const log = (line: string) => `\`\`\`log\n${line}\n\`\`\``;
const jobUrl = (jobId: number) => `${scene.gitlab.url}/shop/checkout/-/jobs/${jobId}`;
const exec = (command: string) => ({ name: 'sandbox_exec', arguments: { command } });
const fetchLog = (jobId: number) => ({
  name: 'fetch_to_sandbox',
  arguments: { tool: 'gitlab_get_job_log', args: { job_id: jobId }, path: '/tmp/data/unit.log' },
});

/** Makes these calls, one a turn, then gives these answers, the last one again and again. */
function doing(
  calls: { name: string; arguments: Record<string, unknown> }[],
  answers: string[],
): ModelScript {
  let given = 0;
  return (conversation) => {
    const asked = conversation.findLastIndex(
      ({ role, ...one }) => role === 'user' && !isNotice(textOf({ role, ...one })),
    );
    const done = conversation.slice(asked).filter(({ role }) => role === 'tool').length;
    const call = calls[done];
    if (call) return { calls: [call] };
    given += 1;
    return { text: answers[Math.min(given, answers.length) - 1] ?? '' };
  };
}

const isNotice = (text: string) => text.startsWith('[System notice]');
const sentBack = () =>
  scene.model.conversations().filter((one) => one.map(textOf).join('\n').includes('not published yet'))
    .length;

test('an invented quote is sent back once, and the corrected one is verified', async () => {
  await arrange();
  const { jobId } = failPipeline();
  scene.model.script = doing([fetchLog(jobId)], [log(INVENTED), log(TRUE_LINE)]);
  const { body } = await noteOf(0);
  expect(body).toContain(log(TRUE_LINE));
  expect(body).not.toContain(INVENTED);
  expect(body).toContain('1 of 1 quote verified');
  expect(lastRequest()).toContain(`"${INVENTED}" is in nothing that was fetched`);
  expect(sentBack()).toBe(1);
});

test('one that stays is marked, and not sent back again', async () => {
  await arrange();
  const { jobId } = failPipeline();
  scene.model.script = doing([fetchLog(jobId)], [`${log(INVENTED)}\n\n${log(TRUE_LINE)}`]);
  const { body } = await noteOf(0);
  expect(body).toContain(`${log(INVENTED)}\n\n*⚠️ Unverified: these lines were not found in what was read.*`);
  expect(body).toContain('1 of 2 quotes verified');
  expect(sentBack()).toBe(1);
});

test.each([
  ['the end of a line', `\`\`\`log\r${INVENTED}\r\`\`\``],
  ['a line written over itself', log(`${INVENTED}\r${TRUE_LINE}`)],
  ['a title of the terminal', log(`\x1b]0;${INVENTED}\x07${TRUE_LINE}`)],
])('an invented line that only the note would show is marked: %s', async (_how, text) => {
  await arrange();
  const { jobId } = failPipeline();
  scene.model.script = doing([fetchLog(jobId)], [text]);
  const { body } = await noteOf(0);
  expect(body).toContain(INVENTED);
  expect(body).toContain('*⚠️ Unverified: ');
});

test.each([
  ['printed', `echo '${INVENTED}'`],
  ['wrote to a file', `echo '${INVENTED}' > /tmp/data/unit-2.log; cat /tmp/data/unit-2.log`],
  ['wrote over a fetched file', `echo '${INVENTED}' > /tmp/data/unit.log; cat /tmp/data/unit.log`],
  ['added to a fetched file', `echo '${INVENTED}' >> /tmp/data/unit.log; tail -1 /tmp/data/unit.log`],
])('what a command %s proves nothing', async (_how, command) => {
  await arrange();
  const { jobId } = failPipeline();
  scene.model.script = doing([fetchLog(jobId), exec(command)], [log(INVENTED)]);
  const { body } = await noteOf(0);
  expect(body).toContain('*⚠️ Unverified: ');
  expect(body).toContain('0 of 1 quote verified');
});

test('a wrong number of a line is put right, a right one stays', async () => {
  await arrange();
  const { jobId } = failPipeline();
  const link = (line: number) => `[unit tests, line ${line}](${jobUrl(jobId)}#L${line}):`;
  const note = (line: number) => `${link(line)}\n\n${log(`${line}: ${TRUE_LINE}`)}`;
  scene.model.script = doing([fetchLog(jobId)], [note(12)]);
  const { body } = await noteOf(0);
  expect(body).toContain(note(2001));
  expect(sentBack()).toBe(0);
});

test('a job of another merge request is not linked to', async () => {
  await arrange();
  const { jobId } = failPipeline();
  const { gitlab, project, nadia } = scene;
  const other = gitlab.addMergeRequest({
    ...{ projectId: project.id, authorId: nadia.id, title: 'Other', sourceBranch: 'other' },
  });
  const pipeline = gitlab.addPipeline({ mergeRequest: other, jobs: [{ name: 'unit tests' }] });
  const foreign = gitlab.jobs(pipeline.id)[0]?.id ?? 0;
  scene.model.script = doing(
    [fetchLog(jobId)],
    [`See [its own](${jobUrl(jobId)}), [the other](${jobUrl(foreign)}#L3), [none](${jobUrl(9_999_999)}).`],
  );
  const { body } = await noteOf(0);
  expect(body).toContain(`See [its own](${jobUrl(jobId)}), the other, none.`);
  expect(lastRequest()).toContain(
    `${jobUrl(foreign)}#L3: this is no job of a pipeline of this merge request`,
  );
});

test('a reply may quote what was fetched before, also after a restart', async () => {
  await arrange();
  const { jobId } = failPipeline();
  scene.model.script = doing([fetchLog(jobId)], ['The rounding is wrong.']);
  const note = await noteOf(0);
  expect(note.body).not.toContain('verified');
  await scene.stop();
  await start();
  scene.model.script = doing([], [`It says:\n\n${log(TRUE_LINE)}`]);
  ask(note.discussionId, 'What does the log say?');
  const { body } = await noteOf(1);
  expect(body).toContain('1 of 1 quote verified');
  expect(textOf(lastUser(scene.model.conversations().at(-1)))).toBe('What does the log say?');
});

test('an answer that came inline can be quoted, too', async () => {
  await arrange();
  failPipeline();
  const pipelines = { name: 'gitlab_list_pipelines', arguments: {} };
  scene.model.script = doing([pipelines], [log('"status": "failed"')]);
  expect((await noteOf(0)).body).toContain('1 of 1 quote verified');
});

test('what people wrote about the change is no word of a job', async () => {
  await arrange();
  failPipeline();
  const details = { name: 'gitlab_get_mr_details', arguments: {} };
  scene.model.script = doing([details], [log('"title": "Round prices half up"')]);
  expect((await noteOf(0)).body).toContain('0 of 1 quote verified');
});
