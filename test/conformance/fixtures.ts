import type { Json, Tools } from './harness.ts';

/** A name that nothing in the account has, so that cases in one account do not affect each other. */
export const unused = (what: string): string => `${what}-${Math.random().toString(36).slice(2, 12)}`;

/** So far away that it never happens. */
export const farAway = '2099-01-01T05:00:00.000Z';

/** A site with backups that is free for work, and a complete snapshot of it. */
export async function withSnapshot({ need }: Tools, suits: (site: Json) => boolean = () => true) {
  const site = await need(
    '/sites?filters[backups:eq]=true&filters[connection_status:eq]=connected&filters[locked:eq]=false',
    (one) => one.backups.latest_snapshot?.status === 'succeeded' && suits(one),
  );
  return { site, snapshot: await need(`/sites/${site.id}/snapshots?filters[status:eq]=succeeded`) };
}
