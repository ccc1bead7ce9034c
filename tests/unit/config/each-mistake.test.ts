import { describe, expect, it } from 'vitest';
import { errorOf, load } from './problems.ts';

/** What somebody may write, and below it what they are told. */
const mistakes = `
server: { port: http }
  server.port: must be a whole number from 0 to 65535, not a text. Fix: write a whole number from 0 to 65535 (the default is 8080).
queue: { concurrency: 1.5 }
  queue.concurrency: 1.5 is not a whole number from 1 to 1000. Fix: write a whole number from 1 to 1000 (the default is 4).
queue: { concurrency: 0 }
  queue.concurrency: 0 is too small. Fix: write a whole number from 1 to 1000 (the default is 4).
server: { port: 70000 }
  server.port: 70000 is too large. Fix: write a whole number from 0 to 65535 (the default is 8080).
projects: { 'group/app': { usdPerDay: 0 } }
  projects['group/app'].usdPerDay: 0 is too small. Fix: write a number above 0, up to 1000000 (the default is 50).
projects: { 'group/app': { usdPerRun: .inf } }
  projects['group/app'].usdPerRun: Infinity is not a number above 0, up to 1000000. Fix: write a number above 0, up to 1000000 (the default is 2).
gitlab: { caFile: }
  gitlab.caFile: has no value. Fix: write a text.
server: { host: "" }
  server.host: must not be empty. Fix: write a text (the default is 127.0.0.1).
store: { kind: s3 }
  store.bucket: is missing. Fix: add it: Name of the bucket.
log: { level: inof }
  log.level: must be one of fatal, error, warn, info, debug, trace, silent. Fix: did you mean info?
store: { kind: tape }
  store.kind: must be one of folder, s3. Fix: write one of folder, s3.
store: { retentionDays: 3 }
  store.kind: is missing. Fix: write one of folder, s3.
sandbox: { kind: virtual, image: x }
  sandbox.image: is not a known key. Fix: remove it; known here: kind, maxBytes, keepBytes.
quue: {}
  quue: is not a known key. Fix: did you mean queue?
server: { zebra: 1 }
  server.zebra: is not a known key. Fix: remove it; known here: host, port.
queue: redis
  queue: must be a map of keys and values, not a text. Fix: write a map of keys and values.
- gitlab
  must be a map of keys and values, not a list. Fix: write a map of keys and values.
models: { main: [] }
  models.main: must not be empty. Fix: write a list with at least one entry.
models: { main: [{ provider: antropic, model: x }] }
  models.main[0].provider: must be one of anthropic, gemini, openai. Fix: did you mean anthropic?
models: { side: [{ provider: openai, model: x }] }
  models.side[0].apiKeyEnv: is missing, and without baseUrl this is api.openai.com, which needs a key. Fix: add apiKeyEnv: OPENAI_API_KEY, or the baseUrl of your own server.
models: { main: [{ provider: gemini, model: x, thinking: hihg }] }
  models.main[0].thinking: must be one of off, on, low, medium, high. Fix: did you mean high?
models: { main: [{ provider: gemini, model: x, apiKeyEnv: KEY, vertex: { project: my-project, location: eu } }] }
  models.main[0].apiKeyEnv: does not go with vertex, whose credentials are those of Google Cloud. Fix: remove apiKeyEnv, or remove vertex to use the API of the provider itself.
models: { main: [{ provider: anthropic, model: x, vertex: { location: global } }] }
  models.main[0].vertex.project: is missing. Fix: add it: ID of the project in Google Cloud.
models: { main: [{ provider: anthropic, model: x, vertex: { project: My Project, location: global } }] }
  models.main[0].vertex.project: is not the ID of a project. Fix: write the ID that Google Cloud shows beside the name of the project, as in my-project-123456.
models: { main: [{ provider: anthropic, model: x, vertex: { project: my-project, location: eu.example.com } }] }
  models.main[0].vertex.location: is not a location of Vertex AI. Fix: write global, us, eu or a region such as europe-west1.
models: { main: [{ provider: openai, model: x, apiKeyEnv: KEY, vertex: {} }] }
  models.main[0].vertex: is not a known key. Fix: remove it; known here: provider, apiKeyEnv, model, baseUrl, maxOutputTokens, thinking.
models: { prices: { qwen3: { input: -1, output: 0 } } }
  models.prices.qwen3.input: -1 is too small. Fix: write a number from 0 to 1000000.
models: { prices: { qwen3: { input: 1 } } }
  models.prices.qwen3.output: is missing. Fix: add it: Output, thinking included.
models: { prices: { qwen3: { input: 1, output: 1, cachRead: 1 } } }
  models.prices.qwen3.cachRead: is not a known key. Fix: did you mean cacheRead?
models: { prices: { qwen3: 2 } }
  models.prices.qwen3: must be a map of keys and values, not a number. Fix: write a map of keys and values.
gitlab: { ignoreUsers: [true] }
  gitlab.ignoreUsers[0]: must be a whole number of at least 1 or a text, not a boolean. Fix: write a whole number of at least 1 or a text.
gitlab: { ignoreUsers: ["@bot"] }
  gitlab.ignoreUsers[0]: is not a username. Fix: write it without the @, as in renovate-bot.
gitlab: { url: "localhost:8080" }
  gitlab.url: is not an http(s) URL. Fix: write it in full, as in https://gitlab.example.com.
gitlab: { url: "https://x.org/api/v4" }
  gitlab.url: is not the address of the instance. Fix: leave out what follows the host, such as /api/v4 (a relative URL root stays).
gitlab: { url: "https://x.org?a=b" }
  gitlab.url: has a query or a fragment. Fix: remove everything from the ? or # on.
projects: { group: {} }
  projects.group: names a group, not a project. Fix: write 'group/**' for all projects of the group.
projects: { '/group//app': {} }
  projects['/group//app']: is not a project pattern. Fix: write 'group/app', 'group/**', '**' or the numeric id of a project.
projects: { 'group/a**': {} }
  projects['group/a**']: ** stands for whole path segments. Fix: write ** between slashes, as in group/**.
projects: { 'a/b': {}, 'A/B': {} }
  projects['A/B']: is the same pattern as 'a/b': upper and lower case are not told apart. Fix: keep one of the two.
queue: { url: "amqp://host" }
  queue.url: is not the address of a queue. Fix: write pglite:<dir>, redis://…, redis-sentinel://…/master, redis-cluster://…, rediss… for TLS, postgres://… or postgresql://….
gitlab: { readTokenEnv: MY-TOKEN }
  gitlab.readTokenEnv: is not the name of an environment variable. Fix: use capital letters, digits and _ only, as in GITLAB_READ_TOKEN.
webhook: { tokenEnvs: [], signingTokenEnvs: [] }
  webhook.tokenEnvs: no variable can hold a webhook secret: tokenEnvs and signingTokenEnvs are both empty. Fix: name at least one variable, as in HUMMINGBIRD_WEBHOOK_TOKEN.
webhook: { rememberEventsMs: 1000 }
  webhook.rememberEventsMs: must not be smaller than replayWindowMs. Fix: raise it or lower replayWindowMs.
webhook: { spool: { maxBytes: 10 } }
  webhook.spool.maxBytes: must not be smaller than maxBodyBytes. Fix: raise it or lower maxBodyBytes.
sandbox: { kind: docker, memoryMb: 512 }
  sandbox.maxBytes: must not be more than half of memoryMb: files are in memory, and commands need some too. Fix: lower it or raise memoryMb.
sandbox: { kind: docker, jobTimeoutMs: 5000 }
  sandbox.jobTimeoutMs: must not be smaller than commandTimeoutMs. Fix: raise it or lower commandTimeoutMs.
sources: { konflux: { clusters: [{ url: "https://k8s", namespaces: { "a/b": "My Team" } }] } }
  sources.konflux.clusters[0].namespaces['a/b']: is not a Kubernetes namespace. Fix: use lower-case letters, digits and -, as in my-team-tenant.
sources: { konflux: { clusters: [{ url: "https://k8s", namespaces: {} }] } }
  sources.konflux.clusters[0].namespaces: names no project. Fix: write which namespace is whose, as in 'group/**': my-team-tenant.
sources: { konflux: { clusters: [{ namespaces: { "a/b": team } }] } }
  sources.konflux.clusters[0].url: there is nothing to ask. Fix: set url, kubeconfig, inCluster: true, kubearchiveUrl or tektonResultsUrl.
sources: { konflux: { clusters: [{ url: "https://k8s", inCluster: true, namespaces: { "a/b": team } }] } }
  sources.konflux.clusters[0].url: url, kubeconfig and inCluster exclude each other. Fix: keep one of them.
sources: { konflux: { clusters: [{ url: "https://k8s", context: x, namespaces: { "a/b": team } }] } }
  sources.konflux.clusters[0].context: is a context of no kubeconfig. Fix: set kubeconfig too, or remove it.
sources: { konflux: { clusters: [{ inCluster: true, namespaces: { "a/b": x } }, { url: "https://k8s", namespaces: { "a/b": x } }] } }
  sources.konflux.clusters[1].name: two clusters have the name konflux. Fix: give each a name of its own.
sources: { mcp: [{ name: jira, tools: [get] }] }
  sources.mcp[0]: needs either command or url. Fix: set the one and remove the other.
sources: { mcp: [{ name: gitlab, command: x, tools: [get] }] }
  sources.mcp[0].name: is the name of another source. Fix: choose another one.
sources: { mcp: [{ name: testing, command: x, tools: [farm_get_log] }] }
  sources.mcp[0].name: begins like the name of another source. Fix: choose another one.
sources: { mcp: [{ name: jira_cloud, command: x, tools: [a] }, { name: jira, command: x, tools: [cloud_a] }] }
  sources.mcp[1].name: begins like the name of another source. Fix: choose another one.
sources: { mcp: [{ name: My-Jira, command: x, tools: [get] }] }
  sources.mcp[0].name: is not a name for a source. Fix: use 2 to 20 lower-case letters, digits and _, as in jira; its tools will begin with it.
gitlab: { fileHosts: ["https://minio.example.com"] }
  gitlab.fileHosts[0]: is not a host. Fix: write 'minio.example.com', 'minio.example.com:9000' or '*.example.com', without https://.
gitlab: { readProjects: [group] }
  gitlab.readProjects[0]: names a group, not a project. Fix: write 'group/**' for all projects of the group.
`;

describe('one mistake gets one message that says how to mend it', () => {
  it.each(Array.from(mistakes.matchAll(/^(\S.*)\n {2}(.+)$/gm), ([, text, told]) => ({ text, told })))(
    '$text',
    ({ text = '', told }) => {
      const [, ...lines] = errorOf(() => load(text)).message.split('\n');

      expect(lines.map((line) => line.replace(/^ {2}line 1(?:, |: )/, ''))).toEqual([told]);
    },
  );
});
