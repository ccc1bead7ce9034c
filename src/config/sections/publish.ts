import { z } from 'zod';
import { hostPattern } from '../values.ts';

export const publish = z
  .strictObject({
    linkHosts: z
      .array(hostPattern())
      .default([])
      .describe(
        "Where links in notes may lead besides GitLab, the web interfaces of Konflux and Testing Farm's artifacts: 'host', 'host:port' or '*.domain'",
      ),
  })
  .prefault({})
  .describe('What the agent writes on merge requests');
