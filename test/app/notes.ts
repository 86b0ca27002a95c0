import { apiCall } from '../../jobs/api-call/job.ts';
import type { Policy } from '../../src/policy/policy.ts';
import { aPolicy } from '../support/builders.ts';

/** A policy that sends one request about each site, so many at a time. */
export const perSite = (name: string, options: object, concurrency = 1): Policy =>
  aPolicy({
    name,
    job: 'api-call',
    select: { from: 'listSites', filters: {} },
    options: apiCall.options.parse(options),
    limits: { concurrency, maxTargets: 100, maxPercent: 100 },
  });

/** Adds one note to each site. */
export const notesOf = (name: string, content = name, concurrency = 1): Policy =>
  perSite(name, { operation: 'createSiteNote', body: { note: { content } } }, concurrency);
