import type { Reporting } from '../model/reporting.ts';

/** An account without reports. */
export const newReporting = (): Reporting => ({
  reports: new Map(),
  templates: new Map(),
  scheduled: new Map(),
  mailEnds: new Map(),
});
