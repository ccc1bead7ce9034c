import { z } from 'zod';
import { projectPattern } from '../project-pattern.ts';
import { durationMs, envName, hostPattern, httpUrl, matching, nonEmpty } from '../values.ts';

export const gitlab = z
  .strictObject({
    url: httpUrl()
      .refine((url) => !/\/(?:api|-)(?:\/|$)/.test(URL.parse(url)?.pathname ?? ''), {
        message: 'is not the address of the instance',
        params: { fix: 'leave out what follows the host, such as /api/v4 (a relative URL root stays)' },
      })
      .default('https://gitlab.com')
      .describe('Address of the GitLab instance, with its relative URL root if it has one'),
    otherHosts: z
      .array(host())
      .default([])
      .describe(
        'Other names of the same instance, by which Konflux or Testing Farm may know its repositories, such as the one for SSH',
      ),
    readTokenEnv: envName()
      .default('GITLAB_READ_TOKEN')
      .describe('Variable with the token that reads (scope read_api)'),
    writeTokenEnv: envName()
      .default('GITLAB_WRITE_TOKEN')
      .describe('Variable with the token that posts notes (scope api)'),
    markerKeyEnv: envName()
      .default('HUMMINGBIRD_MARKER_KEY')
      .describe(
        "Variable with the key that signs the marks in the agent's notes; several with spaces between, the first one signs",
      ),
    caFile: nonEmpty().optional().describe('PEM file of a private certificate authority'),
    timeoutMs: durationMs(100).default(30_000).describe('How long one request may take'),
    maxRequestsPerMinute: z
      .int()
      .min(1)
      .max(100_000)
      .default(1200)
      .describe('Upper bound of our own request rate'),
    fileHosts: z
      .array(hostPattern())
      .default(['cdn.artifacts.gitlab-static.net', 'storage.googleapis.com'])
      .describe(
        "Object stores that GitLab may redirect to for logs and artifacts: 'host', 'host:port' or '*.domain'; one in a private network must be named in full",
      ),
    readProjects: z
      .array(projectPattern())
      .default([])
      .describe(
        "Projects that may be read besides the merge request's own, for pipelines that start others there: 'group/app', 'group/**' or an id",
      ),
    ignoreUsers: z
      .array(z.union([z.int().min(1), username()]))
      .default([])
      .describe('Ids or usernames of other bots, which are never answered'),
    minAccess: z
      .enum(['guest', 'planner', 'reporter', 'developer', 'maintainer', 'owner'])
      .default('reporter')
      .describe(
        'Least access to the project of people who are answered; who opened the merge request is answered too, unless the project is private',
      ),
    membersOnlyLogs: z
      .enum(['refuse', 'quote'])
      .default('refuse')
      .describe(
        'What is done where only members may see the logs of jobs, but more people see the merge request: refuse to write, or quote the logs all the same',
      ),
    resolveThreads: z
      .boolean()
      .default(false)
      .describe('Mark a thread as resolved when the agent has answered in it'),
  })
  .prefault({})
  .describe('The GitLab instance that is served');

function host() {
  return matching(/^[a-z0-9-]+(?:\.[a-z0-9-]+)*$/, {
    message: 'is not the name of a host',
    fix: "write 'ssh.gitlab.example.com', without protocol and port, in lower case",
  });
}

function username() {
  return matching(/^\w[\w.-]*$/, {
    message: 'is not a username',
    fix: 'write it without the @, as in renovate-bot',
  });
}
