/**
 * The script that one would write first: list the sites, sync ten at a time, poll each site until its sync
 * has ended, and sleep after a 429. For comparison with our own figures.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { request } from 'undici';

const AT_ONCE = 10;
const POLL_MS = 2_000;

/** Syncs the first `most` sites of the account. */
export async function byScript({ url, token, most }) {
  const call = async (method, path) => {
    for (;;) {
      const { statusCode, headers, body } = await request(`${url}${path}`, {
        method,
        headers: { authorization: `Bearer ${token}` },
      });
      const answer = await body.json();
      if (statusCode !== 429) return { statusCode, answer };
      await sleep((Number(headers['x-ratelimit-reset'] ?? 1) + 0.1) * 1_000);
    }
  };
  const begun = performance.now();
  const sites = [];
  let pages = 1;
  for (let page = 1; page <= pages; page += 1) {
    const { answer } = await call('GET', `/sites?page=${page}&perPage=100`);
    pages = answer.meta.pagination.totalPages;
    sites.push(...answer.sites.map(({ id }) => id));
  }
  sites.splice(most);
  let synced = 0;
  const one = async () => {
    for (let id = sites.pop(); id !== undefined; id = sites.pop()) {
      const { statusCode } = await call('POST', `/sites/${id}/sync`);
      if (statusCode !== 200) throw new Error(`A sync was answered with HTTP ${statusCode}.`);
      for (;;) {
        await sleep(POLL_MS);
        const { answer } = await call('GET', `/sites/${id}`);
        if (!answer.site.sync.in_progress) break;
      }
      synced += 1;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, one));
  return { synced, pages, ms: performance.now() - begun };
}
