import { z } from 'zod';

export const log = z
  .strictObject({
    level: z
      .enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'])
      .default('info')
      .describe('Least important kind of line that is written'),
  })
  .prefault({})
  .describe('What the service writes about itself');
