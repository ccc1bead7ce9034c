import { z } from 'zod';
import { projectMap } from '../project-pattern.ts';

const limits = z.strictObject({
  maxConcurrent: z.int().min(1).max(1000).default(2).describe('Analyses of the project at the same time'),
  usdPerRun: usd().default(2).describe('Model cost of one analysis, in US dollars'),
  usdPerMr: usd().default(10).describe('Model cost of one merge request, in US dollars'),
  usdPerDay: usd().default(50).describe('Model cost of the project in a day, in US dollars'),
});

export const defaultLimits = limits.parse({});

export const projects = projectMap(limits.describe('Limits of the projects that match the pattern'))
  .refine((map) => Object.keys(map).length > 0, {
    message: 'no project is allowed, so nothing would ever be done',
    params: { fix: "name at least one project, as in 'group/app': {}" },
  })
  .prefault({ '**': {} })
  .describe(
    'Allowlist: path pattern (group/app, group/**, **) or numeric id, with limits; the most specific one wins',
  );

function usd() {
  return z.number().gt(0).max(1_000_000);
}
