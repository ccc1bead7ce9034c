// What the build system outside did with the commit. Its pod is gone already, and its log only in the archive.
import { ENDED_WELL, endedBadly, pipelineRun, taskRun } from '../konflux/objects.ts';
import type { PretendKonflux } from '../konflux/server.ts';

export const KONFLUX_NAMESPACE = 'payments-tenant';

export const KONFLUX_RUN = {
  pipelineRun: 'checkout-service-on-pull-request-x7k2d',
  taskRun: 'checkout-service-on-pull-request-x7k2d-unit-tests',
  assertion: 'AssertionError: expected 1512 to be 1513 // Object.is equality',
} as const;

const TASKS = [
  'init',
  'clone-repository',
  'prefetch-dependencies',
  'unit-tests',
  'build-container',
  'build-image-index',
  'clair-scan',
  'clamav-scan',
  'apply-tags',
];
const RAN = TASKS.slice(0, 4);

export const KONFLUX_LOG = [
  '> checkout-service@4.11.2 test:unit',
  '> vitest run tests/unit',
  '',
  ' ✓ tests/unit/orders/voucher.test.ts (14 tests)',
  ' ✓ tests/unit/pricing/invoice-total.test.ts (9 tests)',
  ' × tests/unit/pricing/cart-total.test.ts > cart total > rounds half a cent of tax up',
  KONFLUX_RUN.assertion,
  '',
  '      Tests  1 failed | 131 passed (132)',
  '',
].join('\n');

export function addKonfluxRun(
  konflux: PretendKonflux,
  { projectId, sha }: { projectId: number; sha: string },
): void {
  const name = KONFLUX_RUN.pipelineRun;
  const { cluster, archive } = konflux;
  cluster.add(
    pipelineRun({
      name,
      sha,
      labels: {
        'appstudio.openshift.io/application': 'checkout',
        'appstudio.openshift.io/component': 'checkout-service',
        'pipelinesascode.tekton.dev/event-type': 'Merge_Request',
        'pipelinesascode.tekton.dev/original-prname': 'checkout-service-on-pull-request',
      },
      annotations: {
        'pipelinesascode.tekton.dev/target-project-id': String(projectId),
        'pipelinesascode.tekton.dev/event-type': 'Merge Request',
      },
      condition: {
        status: 'False',
        reason: 'Failed',
        message: 'Tasks Completed: 4 (Failed: 1, Cancelled 0), Skipped: 5',
      },
      tasks: TASKS.map((task, index) => ({
        name: task,
        runAfter: TASKS.slice(Math.max(0, index - 1), index),
      })),
      status: {
        skippedTasks: TASKS.slice(4).map((task) => ({ name: task, reason: 'PipelineRun was stopping' })),
      },
    }),
    ...RAN.map((task) => toTaskRun(name, task)),
  );
  archive.setLog(`${KONFLUX_RUN.taskRun}-pod`, 'step-unit-tests', KONFLUX_LOG);
}

function toTaskRun(run: string, task: string) {
  const hasFailed = task === 'unit-tests';
  return taskRun({
    name: `${run}-${task}`,
    pipelineRun: run,
    task,
    steps: [{ name: task, ...(hasFailed ? endedBadly() : ENDED_WELL) }],
    ...(hasFailed && {
      condition: { status: 'False', reason: 'Failed', message: '"step-unit-tests" exited with code 1' },
    }),
  });
}
