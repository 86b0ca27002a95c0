/** The shipped policy staging-cleanup on the command line: its output compared with the account afterwards. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import { type Desk, openDesk } from '../support/cli.ts';

const DAY = 86_400_000;
let sandbox: Sandbox;
/** Two machines, each with its own records. */
let desk: Desk;
let another: Desk;

beforeAll(async () => {
  sandbox = await startSandbox({ sites: 60, seed: 1, rateLimit: 0, token: 't' });
  const environment = { CARETAKER_BASE_URL: sandbox.url, CARETAKER_API_TOKEN: 't' };
  desk = openDesk(environment);
  another = openDesk(environment);
});
afterAll(async () => {
  await Promise.all([desk.clear(), another.clear()]);
  await sandbox.stop();
});

async function ask(path: string, body?: object): Promise<Answer> {
  const headers = { authorization: 'Bearer t', 'content-type': 'application/json' };
  const sent = body === undefined ? { headers } : { headers, method: 'POST', body: JSON.stringify(body) };
  return (await (await fetch(`${sandbox.url}${path}`, sent)).json()) as Answer;
}

interface Note {
  id: string;
  content: string;
}
interface Answer {
  staging_sites: Copy[];
  notes: Note[];
}
interface Copy {
  id: string;
  site_id: string;
  created_at: string;
}
const copiesNow = async (): Promise<Copy[]> => (await ask('/staging-sites?perPage=100')).staging_sites;

/** Whether the policy considers a copy stale: older than two weeks, and not the newest of its live site. */
const isStale = (copy: Copy, all: Copy[]) =>
  Date.parse(copy.created_at) < Date.now() - 14 * DAY &&
  all.some(({ site_id, created_at }) => site_id === copy.site_id && created_at > copy.created_at);

const notesOn = async (siteId: string, text: string): Promise<Note[]> =>
  (await ask(`/sites/${siteId}/notes?filters[content:contains]=${encodeURIComponent(text)}`)).notes;

async function run(on: Desk) {
  const { code, stdout } = await on.run(['run', 'staging-cleanup', '--json']);
  const { status, targets } = JSON.parse(stdout);
  const reasons = targets.map(({ id, reason }: { id: string; reason: string }) => [id, reason]);
  return { code, status, reasons: Object.fromEntries(reasons) };
}

test('a run prints each copy that it found stale, and each that it deleted without a grace period', async () => {
  const own = await startSandbox({ sites: 60, seed: 1, rateLimit: 0, token: 't' });
  const here = openDesk({ CARETAKER_BASE_URL: own.url, CARETAKER_API_TOKEN: 't' });
  try {
    const policy = (name: string, action: string) =>
      `  - { name: ${name}, job: staging-cleanup, with: { ${action}, older_than: 14d, keep_latest: 1 } }\n`;
    const both = policy('look', 'action: report') + policy('clear', 'action: delete, grace: 0');
    here.write('config/policies/own.yaml', `policies:\n${both}`);

    const looked = await here.run(['run', 'look']);
    const cleared = await here.run(['run', 'clear']);

    const deleted = own.journal.effectsOf('deleteStagingSite');
    expect(deleted.length).toBeGreaterThan(1);
    for (const id of deleted) {
      expect(looked.stdout).toMatch(new RegExp(`^${id} .*Stale: created on `, 'm'));
      expect(cleared.stdout).toMatch(new RegExp(`^${id} .*Deleted: created on `, 'm'));
    }
  } finally {
    await here.clear();
    await own.stop();
  }
});

test('the plan in the docs is the one that the command prints', async () => {
  const page = readFileSync('docs/jobs/staging-cleanup.md', 'utf8');
  const [, shown] = /^\$ caretaker plan staging-cleanup\n([\s\S]*?)^```/m.exec(page) ?? [];

  // The date depends on today.
  const { stdout } = await desk.run(['plan', 'staging-cleanup']);
  expect(stdout.replaceAll(/(?<=on or after )\S+ \S+(?= UTC)/g, '2026-11-24 14:05')).toBe(shown);
});

const sorted = (copies: Copy[]) => copies.map(({ id }) => id).sort();
const each = (copies: Copy[], reason: string) => Object.fromEntries(copies.map(({ id }) => [id, reason]));

test('stale copies are announced, and deleted after the announced time; all others are kept', async () => {
  const before = await copiesNow();
  const stale = before.filter((copy) => isStale(copy, before));
  expect(stale.length).toBeGreaterThan(1);

  // The plan lists every copy, and changes nothing.
  const plan = JSON.parse((await desk.run(['plan', 'staging-cleanup', '--json'])).stdout);
  expect(sorted(plan.targets)).toEqual(sorted(stale));
  expect(sorted([...plan.targets, ...plan.excluded])).toEqual(sorted(before));
  expect(sandbox.journal.effects).toEqual([]);

  // The first run announces each stale copy on its live site. The second finds the announcements.
  expect(await run(desk)).toEqual({ code: 0, status: 'succeeded', reasons: each(stale, 'announced') });
  const { stdout } = await desk.run(['run', 'staging-cleanup']);
  for (const { id } of stale) expect(stdout).toMatch(new RegExp(`^${id} .* announced `, 'm'));
  expect(sandbox.journal.totals.effects).toEqual({ createSiteNote: stale.length });
  expect(await copiesNow()).toEqual(before);

  // Somebody brings the deletions forward by editing the notes.
  for (const { id, site_id } of stale) {
    const [note, ...others] = await notesOn(site_id, `[caretaker staging-cleanup: ${id} from`);
    expect(others).toEqual([]);
    expect(note?.content).toContain(`(${id}) is stale`);
    const yesterday = new Date(Date.now() - DAY).toISOString();
    const content = note?.content.replace(/ from \S+\]$/, ` from ${yesterday}]`);
    await ask(`/sites/${site_id}/notes/${note?.id}/update`, { note: { content } });
  }

  // Another machine, without these records, deletes exactly these copies and updates their notes.
  expect(await run(another)).toEqual({ code: 0, status: 'succeeded', reasons: each(stale, 'done') });
  expect(sandbox.journal.effectsOf('deleteStagingSite').sort()).toEqual(sorted(stale));
  expect(sandbox.journal.totals.effects).toEqual({
    createSiteNote: stale.length,
    deleteStagingSite: stale.length,
    // One to bring the deletion forward, one to close the announcement.
    updateSiteNote: 2 * stale.length,
  });
  const kept = before.filter(({ id }) => !stale.some((one) => one.id === id));
  expect(sorted(await copiesNow())).toEqual(sorted(kept));
  for (const { id, site_id } of stale) {
    expect(await notesOn(site_id, `(${id}) was deleted on `)).toHaveLength(1);
  }

  // Another run changes nothing more.
  const effects = sandbox.journal.effects.length;
  expect(await run(another)).toEqual({ code: 0, status: 'succeeded', reasons: {} });
  expect(sandbox.journal.effects).toHaveLength(effects);
});
