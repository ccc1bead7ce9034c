import type { Logger } from 'pino';
import { type Config, matchProject, mayReadProject, type Project, type Secrets } from '../config/config.ts';
import type { GitlabClient } from '../gitlab/client.ts';
import type { Redactor } from '../redact/redactor.ts';
import { readStatuses } from '../sources/gitlab/commit-statuses.ts';
import { createFindOwnJobs, type FindOwnJobs } from '../sources/gitlab/own-jobs.ts';
import { createGitlabSource } from '../sources/gitlab/source.ts';
import { type KonfluxCluster, openKonfluxCluster } from '../sources/konflux/clusters.ts';
import type { KubeLogin } from '../sources/konflux/kube-access.ts';
import { createKonfluxSource } from '../sources/konflux/source.ts';
import type { Source } from '../sources/source.ts';
import { openTestingFarm } from '../sources/testing-farm/connection.ts';
import { createTestingFarmSource } from '../sources/testing-farm/source.ts';
import { openMcpSources } from './mcp-sources.ts';

export interface DataSources {
  /** Of one job: GitLab's, and those whose section is in the configuration and means the project. */
  createFor(mr: { projectId: number; iid: number; sha: string }, project: Project): Source[];
  /** Which jobs are the merge request's. */
  createFindOwnJobs(mr: { projectId: number; iid: number; sha: string }): FindOwnJobs;
  close(): Promise<void>;
}

export interface DataSourcesOptions {
  config: Config;
  secrets: Pick<Secrets, 'konfluxTokens' | 'testingFarmToken' | 'mcp'>;
  /** With the READ token. */
  reader: GitlabClient;
  log: Logger;
  redactor: Pick<Redactor, 'openHolder'>;
}

/** Connects what the configuration asks for; a login that can not be used is an error now. */
export async function openDataSources(options: DataSourcesOptions): Promise<DataSources> {
  const { config, secrets, reader, log } = options;
  const { konflux, testingFarm } = config.sources;
  const opened: { close(): Promise<unknown> }[] = [];
  const close = async () => {
    await Promise.all(opened.map((one) => one.close()));
  };
  try {
    const clusters: OpenCluster[] = [];
    // One after the other: when one fails, those that are open are known.
    for (const one of konflux?.clusters ?? []) {
      const found = await openCluster(one, options);
      clusters.push(found);
      opened.push(found.cluster);
    }
    const farm = testingFarm && openTestingFarm({ ...testingFarm, token: secrets.testingFarmToken, log });
    if (farm) opened.push(farm);
    const mcp = await openMcpSources(config, secrets, log);
    opened.push(mcp);
    return {
      createFor(mr, project) {
        const tenancies = clusters.flatMap(({ cluster, namespaces }) => {
          const namespace = matchProject(namespaces, project);
          return namespace === null ? [] : [{ cluster, namespace }];
        });
        const { url: gitlabUrl, otherHosts } = config.gitlab;
        const pinned = { project, gitlabUrl, otherHosts, mrIid: mr.iid, sha: mr.sha };
        const scope = toScope(config, mr);
        return [
          createGitlabSource(reader, scope),
          ...(tenancies.length > 0 ? [createKonfluxSource(tenancies, pinned)] : []),
          ...(farm
            ? [
                createTestingFarmSource(farm, {
                  ...pinned,
                  testRepositories: testingFarm?.testRepositories ?? [],
                  readStatuses: (signal) => readStatuses({ client: reader, ...scope }, signal),
                }),
              ]
            : []),
          ...mcp.current(),
        ];
      },
      createFindOwnJobs: (mr) =>
        createFindOwnJobs({ client: reader, gitlabUrl: config.gitlab.url, ...toScope(config, mr) }),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

function toScope(config: Config, { projectId, iid, sha }: { projectId: number; iid: number; sha: string }) {
  const mayRead = (project: Project) => mayReadProject(config, project);
  return { projectId, mrIid: iid, sha, ...(config.gitlab.readProjects.length > 0 && { mayRead }) };
}

type ClusterConfig = NonNullable<Config['sources']['konflux']>['clusters'][number];

interface OpenCluster {
  cluster: KonfluxCluster;
  namespaces: ClusterConfig['namespaces'];
}

async function openCluster(
  one: ClusterConfig,
  { secrets, log, redactor }: DataSourcesOptions,
): Promise<OpenCluster> {
  const { name, kubearchiveUrl, tektonResultsUrl, uiUrl, caFile, namespaces } = one;
  const token = secrets.konfluxTokens.get(one.tokenEnv);
  const login = toLogin(one, token);
  const options = {
    name,
    login,
    kubearchiveUrl,
    tektonResultsUrl,
    token,
    uiUrl,
    caFile,
    log,
    learn: redactor.openHolder(),
  };
  return { cluster: await openKonfluxCluster(options), namespaces };
}

function toLogin(
  { url, kubeconfig, context, inCluster }: ClusterConfig,
  token: string | undefined,
): KubeLogin | undefined {
  // That there is a token for it was checked with the secrets.
  if (url !== undefined) return { kind: 'token', url, token: token ?? '' };
  if (kubeconfig !== undefined) return { kind: 'kubeconfig', file: kubeconfig, context };
  return inCluster ? { kind: 'in-cluster' } : undefined;
}
