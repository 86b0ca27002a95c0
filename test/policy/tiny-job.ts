/** A job of two lines, for tests of what surrounds jobs. */
import { z } from 'zod';
import { defineJob } from '../../src/job/job.ts';
import { createRegistry } from '../../src/job/registry.ts';

export const tinyJob = defineJob({
  name: 'site-sync',
  summary: 'Does nothing to a site.',
  options: z.strictObject({
    message: z.string().min(1).optional(),
    depth: z.enum(['full', 'quick']).default('full'),
  }),
  candidates: 'listSites',
  target: ({ id, url }) => ({ id, label: url }),
  requestsPerTarget: 1,
  act: async () => ({ is: 'done', reason: 'done' }),
  reconcile: async () => ({ is: 'absent' }),
});

export const registry = createRegistry([tinyJob]);
