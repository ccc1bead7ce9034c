import { z } from 'zod';
import { gitlab } from './sections/gitlab.ts';
import { log } from './sections/log.ts';
import { models } from './sections/models.ts';
import { projects } from './sections/projects.ts';
import { publish } from './sections/publish.ts';
import { queue } from './sections/queue.ts';
import { reconcile } from './sections/reconcile.ts';
import { sandbox } from './sections/sandbox.ts';
import { server } from './sections/server.ts';
import { sources } from './sections/sources.ts';
import { store } from './sections/store.ts';
import { webhook } from './sections/webhook.ts';
import { workflows } from './sections/workflows.ts';

export const configSchema = z
  .strictObject({
    gitlab,
    server,
    webhook,
    projects,
    sources,
    workflows,
    models,
    publish,
    queue,
    reconcile,
    store,
    sandbox,
    log,
  })
  .describe('Configuration of Hummingbird, the CI failure analyst for GitLab');

/** The whole configuration with every default filled in; it holds names of secrets, never secrets. */
export type Config = z.output<typeof configSchema>;
