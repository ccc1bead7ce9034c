import { z } from 'zod';
import { envName, httpUrl } from '../values.ts';
import { konflux } from './konflux.ts';
import { mcp } from './mcp.ts';

const testingFarm = z
  .strictObject({
    url: httpUrl().default('https://api.dev.testing-farm.io/v0.1').describe('Address of the API'),
    artifactsUrl: httpUrl()
      .default('https://artifacts.dev.testing-farm.io')
      .describe('Where results and logs are; nothing is read from any other host'),
    tokenEnv: envName().optional().describe('Variable with the API token, where one is needed'),
    testRepositories: z
      .array(httpUrl())
      .default([])
      .describe(
        "Repositories with tests of several projects: requests that run them may be read, besides those of the project's own; with /** at the end all below",
      ),
  })
  .describe('Testing Farm: requests, results and logs');

export const sources = z
  .strictObject({ konflux: konflux.optional(), testingFarm: testingFarm.optional(), mcp })
  .prefault({})
  .describe('What can be read beside GitLab; a source is on when its section is there');
