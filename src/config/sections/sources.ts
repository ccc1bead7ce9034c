import { z } from 'zod';
import { projectMap } from '../project-pattern.ts';
import { envName, httpUrl, matching, nonEmpty } from '../values.ts';
import { mcp } from './mcp.ts';

const konflux = z
  .strictObject({
    clusterUrl: httpUrl()
      .optional()
      .describe('Kubernetes API of the cluster; without it, kubeconfig or in-cluster'),
    kubearchiveUrl: httpUrl().optional().describe('KubeArchive, for what the cluster has already removed'),
    tektonResultsUrl: httpUrl().optional().describe('Tekton Results, for older runs'),
    uiUrl: httpUrl().optional().describe('The web interface, for links in notes'),
    namespaces: projectMap(namespace())
      .default({})
      .describe('Project pattern to Kubernetes namespace; the most specific one wins'),
    tokenEnv: envName()
      .default('KONFLUX_TOKEN')
      .describe('Variable with the token of a reading service account'),
    caFile: nonEmpty().optional().describe('PEM file of the certificate authority of the cluster'),
  })
  .describe('Konflux: pipeline runs, task logs and test results from the cluster');

const testingFarm = z
  .strictObject({
    url: httpUrl().default('https://api.dev.testing-farm.io/v0.1').describe('Address of the API'),
    tokenEnv: envName().optional().describe('Variable with the API token, where one is needed'),
  })
  .describe('Testing Farm: requests, results and logs');

export const sources = z
  .strictObject({ konflux: konflux.optional(), testingFarm: testingFarm.optional(), mcp })
  .prefault({})
  .describe('What can be read beside GitLab; a source is on when its section is there');

function namespace() {
  return matching(/^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/, {
    message: 'is not a Kubernetes namespace',
    fix: 'use lower-case letters, digits and -, as in my-team-tenant',
  }).describe('Kubernetes namespace');
}
