/**
 * A dashboard with every problem at once: everything that a page can show, with the longest possible texts.
 */
import type { BrokenFile } from '../../src/dashboard/options.ts';
import type { Target } from '../../src/run/run.ts';
import { aSchedule, aTarget } from '../support/builders.ts';
import { anAccount, aPolicy, aRun, ended, remember, startWorld, type World } from './world.ts';

const HOUR = 3_600_000;
/** The maximum length of a name. */
export const LONG_NAME = 'weekly-security-updates-of-all-premium-sites-in-south-america-7';
const LONG_LABEL =
  'https://a-rather-long-name-of-a-site.old-town-dental-and-orthodontics-47.example/with/a/path';

/** A file whose policies are all invalid. */
export const aBrokenFile = (policies: number): BrokenFile => {
  const names = Array.from({ length: policies }, (_, index) => `policy-number-${index}-of-one-file`);
  return {
    file: 'config/policies/a-file-with-a-very-long-name-indeed.yaml',
    errors: names.map((name, index) => ({
      place: `config/policies/a-file-with-a-very-long-name-indeed.yaml:${index * 9 + 3}:5`,
      message: `There is no key "croon" in ${name}.`,
      suggestion: 'did you mean cron?',
      frame: `> ${index * 9 + 3} |     croon: "0 2 * * *"   # ${name}`,
    })),
    since: Date.now() - HOUR,
    active: names,
    kept: names.map((name) => ({ name, readAt: Date.now() - 5 * HOUR })),
  };
};

export interface BusyWorld {
  world: World;
  /** Every page for people, by its address. */
  paths: string[];
}

export async function startBusyWorld(): Promise<BusyWorld> {
  const now = Date.now();
  const south = { cron: ['*/15 2-6 * * 1-5', '30 22 * * 0,6'], timezone: 'America/Argentina/Buenos_Aires' };
  const policies = [
    aPolicy(LONG_NAME, {
      schedule: aSchedule(south),
      description: 'Updates what is known to be vulnerable.',
    }),
    aPolicy('nightly-sync', { schedule: aSchedule({ cron: ['0 2 * * *'], timezone: 'Europe/Berlin' }) }),
    aPolicy('switched-off', { schedule: aSchedule({ disabled: true }) }),
    aPolicy('paused-by-itself', { schedule: aSchedule() }),
    aPolicy('on-demand'),
    ...Array.from({ length: 55 }, (_, index) => aPolicy(`policy-${index}`, { schedule: aSchedule() })),
  ];
  const world = await startWorld({
    policies: () => policies,
    accounts: async () => [anAccount(), anAccount({ account: 'second', failingSince: now - HOUR })],
  });
  const { records } = world;
  // Presence records that are valid until the test ends.
  const roles = ['worker', 'scheduler'];
  await records.presence.announce({
    id: 'd',
    pid: 7,
    host: 'night-shift',
    roles,
    startedAt: now,
    seenAt: now + HOUR,
  });
  await records.accounts.block('default', { since: now - HOUR, why: 'HTTP 401' });
  await records.freeze.begin({ at: now - HOUR, by: 'anna', reason: 'the big sale', until: now + 5 * HOUR });
  await records.policies.pause('paused-by-itself', {
    at: now - 3 * HOUR,
    by: 'caretaker',
    reason: '3 runs failed in a row',
  });
  world.health.brokenFiles = [aBrokenFile(40)];

  const findings = Array.from({ length: 9 }, (_, index) => ({
    severity: index < 7 ? ('error' as const) : ('info' as const),
    about: `plugin-with-a-long-name-${index}`,
    message: 'Failed at check: the disk of the site is full.',
  }));
  const targets: Target[] = [
    ended('site-0001', 'failed', { label: LONG_LABEL, reason: 'task-failed', findings, attempts: 3 }),
    ended('site-0002', 'failed', { reason: 'unknown-effect', taskId: 'task-0001-0002-0003', attempts: 1 }),
    ended('site-0003', 'succeeded'),
    ended('site-0004', 'skipped', { reason: 'daily-limit' }),
    aTarget('site-0005'),
    ...Array.from({ length: 120 }, (_, index) => ended(`site-1${index}`, 'succeeded')),
  ];
  const running = aRun({ id: `${LONG_NAME}.20260730T020000Z`, policy: LONG_NAME, createdAt: now - HOUR });
  await remember(records, running, targets);
  const finished = aRun({ id: 'nightly-sync.20260730T020000Z', createdAt: now - 2 * HOUR });
  await remember(
    records,
    finished,
    targets.filter(({ outcome }) => outcome),
  );
  await records.runs.move(finished, 'partial', { at: now - HOUR });
  for (let index = 0; index < 15; index += 1) {
    const run = aRun({ id: `failed.${index}`, policy: `policy-${index}`, createdAt: now - 2 * HOUR });
    await remember(records, run, [ended('site-0001', 'failed', { reason: 'timeout' })]);
    await records.runs.move(run, 'failed', {
      at: now - HOUR,
      detail: 'Its plan is larger than limits.max_targets.',
    });
  }
  const at = now - 4 * HOUR;
  await records.ledger.record(
    'nightly-sync',
    [{ scheduledFor: at, is: 'skipped', why: 'paused', note: 'by anna', at }],
    {
      to: at,
      schedule: 'UTC * * * * *',
    },
  );

  const policy = `/policies/${LONG_NAME}`;
  const paths = [
    '/',
    '/?page=2',
    '/runs',
    '/runs?policy=nightly-sync&status=partial',
    '/runs?status=stopped',
    `/runs/${running.id}`,
    `/runs/${running.id}?outcome=failed&search=site`,
    `/runs/${running.id}/cancel`,
    `/runs/${running.id}/end`,
    `/runs/${finished.id}`,
    `/runs/${finished.id}/retry`,
    '/system',
    policy,
    '/policies/nightly-sync',
    '/policies/switched-off',
    `${policy}/run`,
    `${policy}/pause`,
    '/policies/paused-by-itself/resume',
    `/targets/default/site-0001?run=${finished.id}`,
    '/no-such-page',
  ];
  return { world, paths };
}
