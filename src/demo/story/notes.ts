// The two notes of the script. What they quote is read from the logs, so that every quote is true.
import { KONFLUX } from './jobs.ts';
import { KONFLUX_RUN } from './konflux-run.ts';
import type { JobLog } from './logs/log-writer.ts';
import { readLine } from './logs.ts';
import type { FailedPipeline } from './pipeline.ts';

export function writeAnalysisNote({ jobs }: FailedPipeline): string {
  const { unitTests, integrationTests, e2eSmokeFirstTry, e2eSmoke, docsSpelling } = jobs;
  const unit = unitTests.log.lines;
  const integration = integrationTests.log.lines;
  return `**Verdict: caused by this merge request: cart totals are one cent too low, because \`config/pricing.json\` now makes half-even the rounding of everybody, not only of invoices.**

### Evidence

${linkTo(unitTests, unit.assertion)}: the cart's total is 1512, not 1513.

${quote(unitTests, [unit.assertion, unit.expected, unit.received, unit.location])}

${linkTo(integrationTests, integration.mismatch)}: the same cent, seen from the API. The ledger computes 1513 and the order is refused with 422.

\`\`\`log
${integration.mismatch}: … ${cutOut(integrationTests, integration.mismatch, /"type":"LedgerMismatch","message":"[^"]*"/)} …
${toQuoted(integrationTests, integration.assertion)}
${toQuoted(integrationTests, integration.location)}
\`\`\`

Line 4 of \`config/pricing.json\`, which this merge request changed:

\`\`\`diff
-  "rounding": "half-up",
+  "rounding": "half-even",
\`\`\`

### Why

\`roundCents\` (\`src/pricing/round.ts\`, line 6) takes its default from that setting, so every caller that does not say how to round changed with it. The test's cart is 12.50 with 21 % of tax, which is 2.625: half-up makes it 2.63, half-even 2.62. The merge request says that carts stay as they are, and it adapted the invoice's test alone.

### What to do

1. Set \`rounding\` in \`config/pricing.json\` back to \`half-up\`.
2. Call \`roundCents(cents, 'half-even')\` where the invoice's total is made.

### Also seen

- [\`${KONFLUX.name}\`](${KONFLUX.targetUrl}): the same failure. The log of its task \`unit-tests\` says \`${KONFLUX_RUN.assertion}\`; the five tasks after it were skipped.
- ${linkTo(e2eSmokeFirstTry, e2eSmokeFirstTry.log.lines.timeout)}: flaky, a timeout; it [passed when it was retried](${e2eSmoke.url}).
- ${linkTo(docsSpelling, docsSpelling.log.lines.misspelling)}: allowed to fail; the typo "reedem" in \`docs/vouchers.md\` is not from this merge request.

**Confidence:** high: two jobs and Konflux show the same cent, and the change explains it.

**Not available:** nothing that is needed; the pod of the Konflux run is gone, but the archive still had its log.`;
}

export function writeReplyNote({ jobs }: FailedPipeline): string {
  const { e2eSmokeFirstTry, e2eSmoke } = jobs;
  const { stall, timeout, connection } = e2eSmokeFirstTry.log.lines;
  return `**No, it is another problem, and not one of this merge request.** Neither \`LedgerMismatch\` nor \`AssertionError\` is in the log of ${linkTo(e2eSmokeFirstTry, timeout)}. The payment stub paused for 41 s, and the browser waits for 30 s:

${quote(e2eSmokeFirstTry, [stall, timeout, connection])}

The same commit [passed when the job was retried](${e2eSmoke.url}), with the wrong rounding still in it.

To keep it from coming back, give the stub more memory, or let that step wait for longer than such a pause.`;
}

type Quoted = { name: string; url: string; log: JobLog };

function linkTo(job: Quoted, line: number): string {
  return `[\`${job.name}\`, line ${line}](${job.url}#L${line})`;
}

function quote(job: Quoted, lines: readonly number[]): string {
  return ['```log', ...lines.map((line) => toQuoted(job, line)), '```'].join('\n');
}

function cutOut(job: Quoted, line: number, pattern: RegExp): string {
  const [found] = pattern.exec(readLine(job.log, line)) ?? [];
  if (found === undefined) throw new Error(`Line ${line} of ${job.name} has nothing like ${pattern}.`);
  return found;
}

function toQuoted(job: Quoted, line: number): string {
  return `${line}: ${readLine(job.log, line).trim()}`;
}
