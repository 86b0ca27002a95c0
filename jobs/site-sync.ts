/**
 * Starts an on-demand sync of each site and follows it to its snapshot (spec 4.15).
 *
 * A sync that is already running is adopted: the site gets synced, which is what the policy asks for.
 */
import { z } from 'zod';
import { refusalOf } from '../src/contract/answers.ts';
import { type Api, defineJob } from '../src/job/job.ts';
import { problemWith } from '../src/job/problem.ts';

/** Moments of the service and of ours are compared with this much slack. */
const CLOCK_SLACK_MS = 60_000;

export const siteSync = defineJob({
  name: 'site-sync',
  summary: 'Starts an on-demand sync of a site and follows it to its snapshot.',
  options: z.strictObject({
    message: z
      .string()
      .max(500)
      .optional()
      .describe('Sent along with the sync, for people who look at the snapshot.'),
  }),
  candidates: 'listSites',
  target: (site) => ({ id: site.id, label: site.url }),
  judge(site) {
    if (site.connection?.status === 'disconnected') return { is: 'unfit', why: 'The site is disconnected.' };
    if (site.sync?.paused) return { is: 'unfit', why: 'Syncing is paused on the site.' };
    if (site.locked) return { is: 'unfit', why: 'The site is locked.' };
    return { is: 'target' };
  },
  requestsPerTarget: 1,

  async act({ api, target, options, now }) {
    try {
      const body = options.message === undefined ? {} : { body: { sync: { message: options.message } } };
      const { sync } = await api.syncSite({ site_id: target.id, ...body });
      return {
        is: 'following',
        watch: { kind: 'sync', siteId: target.id, snapshotId: sync.snapshot_id, since: now },
      };
    } catch (error) {
      const { conflict, rejected } = problemWith(error);
      if (conflict) {
        const running = await runningSync(api, target.id);
        if (!running) return { is: 'waiting', reason: 'conflict', detail: conflict.message };
        return {
          is: 'following',
          watch: { kind: 'sync', siteId: target.id, since: now - CLOCK_SLACK_MS, adopted: true },
        };
      }
      const refusal = rejected && refusalOf(rejected);
      if (refusal) return { is: 'skipped', reason: refusal, detail: rejected.message };
      throw error;
    }
  },

  async reconcile({ api, target }, intent) {
    const { site } = await api.showSite({ site_id: target.id });
    const { sync } = site;
    if (!sync)
      return { is: 'unknown', detail: 'The service does not tell how the site stands with its syncs.' };
    const since = intent.at - CLOCK_SLACK_MS;
    const watch = { kind: 'sync', siteId: target.id, since, adopted: true } as const;
    if (sync.in_progress) return { is: 'following', watch };
    const snapshot = site.backups?.latest_snapshot;
    if (snapshot && Date.parse(snapshot.created_at ?? '') >= since) {
      return { is: 'following', watch: { ...watch, snapshotId: snapshot.id } };
    }
    if (sync.last_sync_at === null) return { is: 'absent' };
    const lastSyncAt = Date.parse(sync.last_sync_at ?? '');
    if (Number.isNaN(lastSyncAt))
      return { is: 'unknown', detail: 'The service does not tell when it last synced the site.' };
    return lastSyncAt >= since ? { is: 'following', watch } : { is: 'absent' };
  },
});

async function runningSync(api: Api, siteId: string): Promise<boolean> {
  const { site } = await api.showSite({ site_id: siteId });
  return site.sync?.in_progress === true;
}
