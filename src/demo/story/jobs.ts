// The jobs of the story's pipeline, as its .gitlab-ci.yml would have them.
export const JOBS = {
  lint: { name: 'lint', stage: 'check' },
  compile: { name: 'compile', stage: 'check' },
  unitTests: { name: 'unit-tests', stage: 'test' },
  integrationTests: { name: 'integration-tests', stage: 'test' },
  e2eSmoke: { name: 'e2e-smoke', stage: 'test' },
  docsSpelling: { name: 'docs-spelling', stage: 'test', allowFailure: true },
} as const;

export type JobKey = keyof typeof JOBS;

/** What a build system outside of GitLab says of the same commit. */
export const KONFLUX = {
  name: 'Konflux / checkout-service-on-pull-request',
  targetUrl:
    'https://konflux.example.com/ns/payments-tenant/applications/checkout/pipelineruns/checkout-service-on-pull-request-x7k2d',
  running: 'Pipeline run checkout-service-on-pull-request-x7k2d is running',
  failed: '1 of 9 tasks failed: unit-tests (tests/unit/pricing/cart-total.test.ts)',
} as const;
