import { z } from 'zod';
import { matching, nonEmpty } from '../values.ts';

export const workflows = z
  .strictObject({
    dir: nonEmpty()
      .default('workflows')
      .describe('Folder of the workflow files; relative to the installation if it is not absolute'),
    onFailedPipeline: matching(/^[a-z0-9][a-z0-9-]*$/, {
      message: 'is not the name of a workflow',
      fix: 'write the name of its file without .md, as in analyze-failures',
    })
      .default('analyze-failures')
      .describe('Workflow that a failed pipeline starts'),
  })
  .prefault({})
  .describe('What the agent is asked to do');
