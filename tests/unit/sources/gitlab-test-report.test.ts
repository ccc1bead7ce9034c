import { expect, test } from 'vitest';
import { parseJunit } from '../../../src/sources/gitlab/junit.ts';
import { createSourceScene } from './gitlab-scene.ts';

interface Report {
  total: number;
  failed_tests: { name: string; message: string }[];
  note?: string;
  reports?: string[];
  left_out?: string[];
}

test('the test report is a table of the failed tests, with their messages', async () => {
  const scene = await createSourceScene();
  const pipeline = scene.gitlab.addPipeline({
    mergeRequest: scene.mr,
    jobs: [{ name: 'unit', status: 'failed' }],
    testSuites: [
      {
        name: 'unit',
        cases: [
          { name: 'adds', status: 'success' },
          {
            name: 'divides by ½',
            classname: 'math.Division',
            status: 'failed',
            seconds: 1.5,
            file: 'test/division.ts',
            output: 'expected 2, got 3',
            stackTrace: 'at division.ts:7',
            recentFailures: 4,
          },
          { name: 'connects', status: 'error', output: 'ECONNREFUSED' },
          { name: 'later', status: 'skipped' },
        ],
      },
      { name: 'e2e', error: 'JUnit XML parsing failed: 1:1: FATAL', cases: [] },
    ],
  });

  expect(await scene.ask('gitlab_get_test_report', { pipeline_id: pipeline.id })).toEqual({
    total: 4,
    passed: 1,
    failed: 1,
    errors: 1,
    skipped: 1,
    failed_tests: [
      {
        suite: 'unit',
        classname: 'math.Division',
        name: 'divides by ½',
        file: 'test/division.ts',
        seconds: 1.5,
        message: 'expected 2, got 3\nat division.ts:7',
        recent_failures: '4 times in 14 days on main',
      },
      { suite: 'unit', name: 'connects', status: 'error', seconds: 0, message: 'ECONNREFUSED' },
    ],
    suite_errors: [{ suite: 'e2e', error: 'JUnit XML parsing failed: 1:1: FATAL' }],
  });
});

test('of very many failed tests the first ones are shown, and long messages are cut', async () => {
  const scene = await createSourceScene();
  const cases = Array.from({ length: 250 }, (_, index) => ({
    name: `case ${index}`,
    status: 'failed' as const,
    output: 'x'.repeat(10_000),
  }));
  const pipeline = scene.gitlab.addPipeline({
    mergeRequest: scene.mr,
    testSuites: [{ name: 'unit', cases }],
  });

  const report = await scene.ask<Report>('gitlab_get_test_report', { pipeline_id: pipeline.id });

  expect(report.failed_tests).toHaveLength(200);
  expect(report.note).toBe('Only the first 200 of 250 failed tests are here.');
  expect(report.failed_tests[0]?.message).toMatch(/x\n\[… 8500 more characters/);
});

test('JUnit files in the artifacts become the same table', async () => {
  const { scene, jobId } = await createJob({
    'reports/unit.xml': `<?xml version="1.0" encoding="UTF-8"?>
      <testsuites tests="3"><testsuite name="cart">
        <testcase classname="cart.Price" name="rounds &lt;half&gt; up" time="0.25" file="price.test.ts">
          <failure message="expected 3&#10;to be 4"><![CDATA[at price.test.ts:7 <anonymous>]]></failure>
        </testcase>
        <testcase name="adds"/><testcase name="later"><skipped/></testcase>
      </testsuite></testsuites>`,
    'reports/one.xml':
      '<testsuite name="solo"><testcase name="boots"><error>no port</error></testcase></testsuite>',
    'coverage.xml': '<coverage line-rate="0.5"/>',
    'app.log': 'not a report',
  });

  expect(await scene.ask('gitlab_get_junit_report', { job_id: jobId })).toEqual({
    reports: ['reports/unit.xml', 'reports/one.xml'],
    total: 4,
    passed: 1,
    failed: 1,
    errors: 1,
    skipped: 1,
    failed_tests: [
      {
        suite: 'cart',
        classname: 'cart.Price',
        name: 'rounds <half> up',
        file: 'price.test.ts',
        seconds: 0.25,
        message: 'expected 3\nto be 4\nat price.test.ts:7 <anonymous>',
      },
      { suite: 'solo', name: 'boots', status: 'error', seconds: null, message: 'no port' },
    ],
  });
});

test('one file or folder can be chosen, and what can not be read is named', async () => {
  const { scene, jobId } = await createJob({
    'a/one.xml': '<testsuite name="a"><testcase name="x"><failure>no</failure></testcase></testsuite>',
    'a/deep.xml': '<a>'.repeat(100) + '</a>'.repeat(100),
    'a/half.xml': '<testsuite name="s"><testcase name="a"/><testcase name="b"><failure>Asser',
    'b/two.xml': '<testsuite name="b"><testcase name="y"/></testsuite>',
  });
  const read = (path: string) => scene.ask<Report>('gitlab_get_junit_report', { job_id: jobId, path });

  expect(await read('b/two.xml')).toMatchObject({ reports: ['b/two.xml'], total: 1 });
  expect(await read('a')).toMatchObject({
    reports: ['a/one.xml'],
    left_out: [
      expect.stringMatching(/^a\/deep\.xml: can not be read: .*nested/),
      expect.stringMatching(/^a\/half\.xml: not whole XML: /),
    ],
  });
  const missing = await scene.call('gitlab_get_junit_report', { job_id: jobId, path: 'c' });
  expect(missing.result.error).toMatch(/no XML files at c in its artifacts; see gitlab_list_artifacts/);
});

test('an archive of very many files is read in part, and says so', async () => {
  const empty = Array.from({ length: 20_001 }, (_, index) => [`${index}.txt`, '']);
  const { scene, jobId } = await createJob({
    'a.xml': '<testsuite name="a"><testcase name="x"/></testsuite>',
    ...Object.fromEntries(empty),
    'z.xml': '<testsuite name="z"><testcase name="y"><failure/></testcase></testsuite>',
  });
  const cut = 'of its files only the first 20000 were looked at';

  expect(await scene.ask('gitlab_get_junit_report', { job_id: jobId })).toMatchObject({ left_out: [cut] });
  const missing = await scene.call('gitlab_get_junit_report', { job_id: jobId, path: 'z.xml' });
  expect(missing.result.error).toContain(`in its artifacts (${cut})`);
});

test('of very many reports that can not be read the first are named, and how many there are', async () => {
  const broken = Array.from({ length: 70 }, (_, index) => [`${index}.xml`, '<testsuite']);
  const { scene, jobId } = await createJob(Object.fromEntries(broken));

  const { left_out } = await scene.ask<Report>('gitlab_get_junit_report', { job_id: jobId });

  expect(left_out).toHaveLength(51);
  expect(left_out?.at(-1)).toBe('… and 20 more');
});

test('entities that a report declares are never expanded', () => {
  const bomb = `<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>
    <testsuite name="&b;"><testcase name="x"/></testsuite>`;

  expect(parseJunit(bomb)).toMatchObject([{ suite: '&b;', name: 'x' }]);
});

test('what is no report is told apart from an empty one', () => {
  expect(parseJunit('<html/>')).toBeNull();
  expect(() => parseJunit('plain text')).toThrow('not whole XML');
  expect(parseJunit('<testsuites/>')).toEqual([]);
});

test('a case without a name hides no other', () => {
  const xml =
    '<testsuite name="s"><testcase/><testcase name="b"><failure>boom</failure></testcase></testsuite>';

  expect(parseJunit(xml)).toMatchObject([
    { name: '', status: 'passed' },
    { name: 'b', status: 'failed', message: 'boom' },
  ]);
});

test('a report may have very many cases', async () => {
  const cases = '<testcase name="x"/>'.repeat(390_000);
  const { scene, jobId } = await createJob({ 'many.xml': `<testsuite name="s">${cases}</testsuite>` });

  expect(await scene.ask('gitlab_get_junit_report', { job_id: jobId })).toMatchObject({ total: 390_000 });
});

async function createJob(files: Record<string, string>) {
  const scene = await createSourceScene();
  const pipeline = scene.gitlab.addPipeline({
    mergeRequest: scene.mr,
    jobs: [{ name: 'unit', status: 'failed' }],
  });
  const jobId = scene.gitlab.jobs(pipeline.id)[0]?.id ?? 0;
  scene.gitlab.addArtifacts({ jobId, files });
  return { scene, jobId };
}
