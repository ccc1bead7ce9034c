import { z } from 'zod';
import { projectMap } from '../project-pattern.ts';
import { envName, httpUrl, matching, nonEmpty, sound } from '../values.ts';

const cluster = z
  .strictObject({
    name: matching(/^[\w.-]{1,40}$/, {
      message: 'is not a name',
      fix: 'use up to 40 letters, digits, dots and -, as in prod-1',
    })
      .default('konflux')
      .describe('Name of the cluster, for messages'),
    url: httpUrl().optional().describe('Kubernetes API of the cluster, asked with the token in tokenEnv'),
    kubeconfig: nonEmpty().optional().describe('Instead of url: a kubeconfig file, with its credentials'),
    context: nonEmpty().optional().describe('Context of the kubeconfig; its current one unless told'),
    inCluster: z
      .boolean()
      .default(false)
      .describe('Instead of url: the cluster that Hummingbird runs in, as its own service account'),
    kubearchiveUrl: httpUrl().optional().describe('KubeArchive, for what the cluster has already removed'),
    tektonResultsUrl: httpUrl().optional().describe('Tekton Results, for older runs'),
    uiUrl: httpUrl().optional().describe('The web interface, for links in notes'),
    namespaces: projectMap(namespace())
      .refine((map) => Object.keys(map).length > 0, {
        message: 'names no project',
        params: { fix: "write which namespace is whose, as in 'group/**': my-team-tenant" },
      })
      .describe('Project pattern to Kubernetes namespace; the most specific one wins'),
    tokenEnv: envName()
      .default('KONFLUX_TOKEN')
      .describe('Variable with the token of a reading service account, for url and the archives'),
    caFile: nonEmpty().optional().describe('PEM file of the certificate authority of cluster and archives'),
  })
  .refine(({ url, kubeconfig, inCluster }) => countOf(url, kubeconfig, inCluster || undefined) <= 1, {
    path: ['url'],
    message: 'url, kubeconfig and inCluster exclude each other',
    params: { fix: 'keep one of them' },
    when: sound('url', 'kubeconfig', 'inCluster'),
  })
  .refine(
    ({ url, kubeconfig, inCluster, kubearchiveUrl, tektonResultsUrl }) =>
      countOf(url, kubeconfig, inCluster || undefined, kubearchiveUrl, tektonResultsUrl) > 0,
    {
      path: ['url'],
      message: 'there is nothing to ask',
      params: { fix: 'set url, kubeconfig, inCluster: true, kubearchiveUrl or tektonResultsUrl' },
      when: sound('url', 'kubeconfig', 'inCluster', 'kubearchiveUrl', 'tektonResultsUrl'),
    },
  )
  .refine(({ context, kubeconfig }) => context === undefined || kubeconfig !== undefined, {
    path: ['context'],
    message: 'is a context of no kubeconfig',
    params: { fix: 'set kubeconfig too, or remove it' },
    when: sound('context', 'kubeconfig'),
  })
  .describe('One Konflux: its cluster and its archives');

export const konflux = z
  .strictObject({
    clusters: z
      .array(cluster)
      .min(1)
      .superRefine(refuseTwins, { when: sound() })
      .describe('The clusters; a project is looked for in all that have a namespace for it'),
  })
  .describe('Konflux: pipeline runs, task logs and test results from clusters and their archives');

export type KonfluxClusterConfig = z.output<typeof cluster>;

/** A kubeconfig and a pod bring credentials of their own, also for the archives. */
export function needsToken({ url, kubeconfig, inCluster }: KonfluxClusterConfig): boolean {
  return url !== undefined || (kubeconfig === undefined && !inCluster);
}

function namespace() {
  return matching(/^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/, {
    message: 'is not a Kubernetes namespace',
    fix: 'use lower-case letters, digits and -, as in my-team-tenant',
  }).describe('Kubernetes namespace');
}

function countOf(...settings: unknown[]): number {
  return settings.filter((setting) => setting !== undefined).length;
}

function refuseTwins(clusters: readonly { name: string }[], context: z.RefinementCtx): void {
  for (const [index, { name }] of clusters.entries()) {
    if (clusters.findIndex((other) => other.name === name) === index) continue;
    context.addIssue({
      code: 'custom',
      path: [index, 'name'],
      message: `two clusters have the name ${name}`,
      params: { fix: 'give each a name of its own' },
    });
  }
}
