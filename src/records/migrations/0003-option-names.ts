/**
 * Version 3: job options have their standard names.
 *
 * A run keeps the policy that it was started with, to continue and to retry by it. In older runs, the options
 * of three jobs have their former names, which these jobs no longer know.
 */
import { z } from 'zod';
import { parseRecord } from '../parse-record.ts';
import type { Migration, MigrationContext } from './migration.ts';
import { replaceField } from './replace-field.ts';

const PREFIX = '{caretaker}';
/** Runs that are looked at together. */
const PAGE = 500;

const names: Record<string, string> = {
  fresher_than: 'max_age',
  tell_apart_by: 'dedupe_by',
  look_back: 'lookback',
};
const jobs = ['site-sync', 'report-dispatch', 'update-check'];

const StoredPolicy = z.looseObject({ job: z.string(), options: z.record(z.string(), z.unknown()) });

export const optionNames: Migration = {
  summary: 'the options of jobs have their new names in the runs that were started with the former ones',
  async run(context) {
    for (let offset = 0; ; offset += PAGE) {
      const last = String(offset + PAGE - 1);
      const ids = await context.store.zrange(`${PREFIX}:runs`, String(offset), last, 'REV');
      await Promise.all(ids.map((id) => rename(context, `${PREFIX}:run:${id}`)));
      if (ids.length < PAGE) return;
    }
  },
};

async function rename({ store }: MigrationContext, run: string): Promise<void> {
  const [job, json] = await store.hmget(run, 'job', 'policyJson');
  if (!job || !json || !jobs.includes(job)) return;
  await replaceField(store, { hash: run, field: 'policyJson', read: json }, (text) => {
    const policy = parseRecord(StoredPolicy, text, run);
    const options = Object.fromEntries(
      Object.entries(policy.options).map(([name, value]) => [names[name] ?? name, value]),
    );
    if (options['mode'] === 'laggards') options['mode'] = 'stale';
    return JSON.stringify({ ...policy, options });
  });
}
