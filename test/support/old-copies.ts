import { apiCall } from '../../jobs/api-call/job.ts';
import type { Policy } from '../../src/policy/policy.ts';
import { aPolicy } from './builders.ts';

/** A policy that announces the deletion of staging copies, and deletes them when the grace has passed. */
export const deletionAfter = (grace: string, where?: string): Policy =>
  aPolicy({
    name: 'old-copies',
    job: 'api-call',
    select: { from: 'listStagingSites', filters: {}, ...(where === undefined ? {} : { where }) },
    options: apiCall.options.parse({
      operation: 'deleteStagingSite',
      confirm: 'deleteStagingSite',
      grace,
    }),
  });
