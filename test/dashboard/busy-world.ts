/**
 * A dashboard with every problem at once: everything that a page can show, with the longest possible texts.
 */
import { noAccess } from '../../src/access/access.ts';
import { NOBODYS_HASH } from '../../src/access/credentials.ts';
import { isoTime } from '../../src/clock.ts';
import type { BrokenFile } from '../../src/dashboard/options.ts';
import { isoDay } from '../../src/dates.ts';
import type { AuditLine } from '../../src/records/audit-store.ts';
import type { StoredPreview } from '../../src/records/preview-store.ts';
import type { Records } from '../../src/records/records.ts';
import type { Run, Target } from '../../src/run/run.ts';
import { aSchedule, aTarget } from '../support/builders.ts';
import { deliver, type Result } from '../support/deliveries.ts';
import { findIn } from '../support/findings.ts';
import { DUE_MS, leaveUnrecorded } from '../support/recordings.ts';
import { workedOn } from '../support/worked-on.ts';
import { anAccount, aPolicy, aRun, ended, remember, startWorld, type World } from './world.ts';

const HOUR = 3_600_000;
/** The maximum length of a name. */
const LONG_NAME = 'weekly-security-updates-of-all-premium-sites-in-south-america-7';
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
      owner: 'the team for hosting and maintenance of premium customers',
    }),
    aPolicy('nightly-sync', { schedule: aSchedule({ cron: ['0 2 * * *'], timezone: 'Europe/Berlin' }) }),
    aPolicy('closed-for-years', {
      schedule: aSchedule({ cron: ['0 2 * * *'], blackout: [{ from: '2020-01-01', to: '2099-12-31' }] }),
    }),
    aPolicy('switched-off', { schedule: aSchedule({ disabled: true }) }),
    aPolicy('paused-by-itself', { schedule: aSchedule() }),
    aPolicy('on-demand'),
    ...Array.from({ length: 55 }, (_, index) => aPolicy(`policy-${index}`, { schedule: aSchedule() })),
  ];
  const world = await startWorld({
    policies: () => policies,
    // The sign-in page has every way to sign in.
    access: () => ({
      ...noAccess,
      users: [{ name: 'ana', passwordHash: NOBODYS_HASH, grants: [{ role: 'viewer' }] }],
      oidc: { issuer: 'https://login.a-rather-long-name.example', clientId: 'c', scopes: [], claims: [] },
    }),
    accounts: async () => [anAccount(), anAccount({ account: 'second', failingSince: now - HOUR })],
    receivers: () => [
      {
        name: 'ops',
        kind: 'slack',
        rules: 'Grouped within 30s, reminders after 4h, also account-blocked, account-back',
      },
      { name: 'alive', kind: 'heartbeat', rules: 'A request every 1m, no messages' },
    ],
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
    vitals: {
      version: '10.20.30-rc.4',
      node: '20.19.43',
      memoryBytes: 1_900_000_000,
      heapBytes: 900_000_000,
      lagMs: 1_234,
      maxLagMs: 12_345,
    },
  });
  for (let minute = 0; minute < 50; minute += 1)
    await records.depths.note(now - minute * 60_000, async () => ({
      actions: 12_000 - minute * 200,
      plans: 12,
      deliveries: 340,
    }));
  world.health.servers = [
    {
      version: '7.4.2',
      usedBytes: 1_900_000_000,
      maxBytes: 16_000_000_000,
      maxmemoryPolicy: 'volatile-random',
      aof: { isOn: true, isWritten: false },
      snapshot: { at: now - 30 * HOUR, isWritten: true, changesSince: 123_456_789 },
      latencyMs: 1_234,
    },
  ];
  world.health.troubles = [
    {
      stops: true,
      message: 'the queue "actions" was paused by another BullMQ client, and no entry of it is processed',
      queue: 'actions',
    },
  ];
  await records.accounts.block('default', { since: now - HOUR, why: 'HTTP 401' });
  await records.freeze.add({ scope: { tag: LONG_LABEL }, at: now, by: 'ben', until: now + 9 * HOUR });
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

  await history(records, now);
  const version = { file: 'config/policies/nightly.yaml', line: 12 };
  const limits = { concurrency: 20, max_targets: 1000 };
  for (const [at, hash, definition] of [
    [now - 30 * HOUR, '0123456789abcdef', { name: 'nightly-sync', limits }],
    [now - 20 * HOUR, 'fedcba9876543210', { name: 'nightly-sync', limits: { ...limits, concurrency: 50 } }],
    [now - HOUR, 'nightly-sync', { name: 'nightly-sync', limits, select: { where: LONG_LABEL } }],
  ] as const)
    await records.versions.add('nightly-sync', { ...version, at, hash, definition }, 400 * 24 * HOUR);
  await records.previews.keep('nightly-sync', aPlanToShow(now));

  const line = { who: { kind: 'user', name: 'anna' }, from: '192.0.2.1', account: 'default' } as const;
  const acts: Omit<AuditLine, 'at' | 'act'>[] = [
    { ...line, what: 'policies.pause', policy: LONG_NAME, result: 'done', why: 'The client moves house' },
    { ...line, what: 'runs.cancel', policy: LONG_NAME, run: running.id, result: 'requested' },
    { ...line, what: 'runs.retry', run: finished.id, result: 'failed', code: 'RUN', message: LONG_LABEL },
    {
      ...line,
      what: 'freezes.begin',
      result: 'refused',
      code: 'FORBIDDEN',
      message: 'anna may not do this.',
    },
    { ...line, what: 'sign-in', result: 'done' },
    // Each is cut off in another place, depending on the width.
    ...[8, 12, 16, 24, 40].map((words) => ({
      ...line,
      what: 'policies.pause',
      result: 'done' as const,
      why: Array.from({ length: words }, () => 'word').join(' '),
    })),
  ];
  for (const [index, act] of acts.entries())
    await records.audit.append({ ...act, act: `act-${index}`, at: now - HOUR }, 400 * 24 * HOUR);

  await notifications(records, now);
  await leaveFindings(records, now);
  const sites = Array.from({ length: 60 }, (_, index) =>
    ended(`site-1${index}`, index % 7 === 0 ? 'failed' : 'succeeded', { label: `${LONG_LABEL}/${index}` }),
  );
  await workedOn(records, aRun({ id: 'sites.1', policy: LONG_NAME, createdAt: now - HOUR }), sites);
  const facts = Array.from({ length: 40 }, (_, index) => ({
    ...{
      id: `site-1${index}`,
      title: `The shop with the long title, number ${index}`,
      url: `${LONG_LABEL}/${index}`,
    },
    ...(index % 3 > 0 && { client: { id: '7', name: 'Old Town Dental Practices of the Upper Valley' } }),
    tags: [1, 2, 3].slice(index % 4).map((tag) => ({ id: String(tag), name: `priority-${tag}` })),
    last_sync_at: index % 9 === 0 ? null : isoTime(now - index * HOUR),
    last_sync_status: index % 5 === 0 ? 'failed' : 'succeeded',
    ...{
      connection: index % 8 === 0 ? 'disconnected' : 'connected',
      scanner: index % 11 === 0 ? 'hacked' : 'clean',
    },
    locked: index % 6 === 0,
    backups_enabled: index % 5 > 0,
    latest_snapshot: {
      created_at: isoTime(now - index * 24 * HOUR),
      status: index % 4 === 0 ? 'in_progress' : 'succeeded',
    },
  }));
  await records.sites.replace('default', now - 200_000, facts);
  const maintained = await maintenance(records, now);
  const waiting = aRun({
    id: 'tidy-staging.20260730T020000Z',
    policy: 'tidy-staging',
    status: 'awaiting-approval',
    planComplete: true,
    counts: { planned: 40, succeeded: 0, failed: 0, skipped: 0, cancelled: 0 },
    rollout: {
      is: 'ready',
      batches: [
        { takes: 'where site.tags.exists(t, t.name == "canary")', targets: 4 },
        { takes: '100%', targets: 36 },
      ],
    },
    approvals: [
      {
        hash: '0123456789ab',
        since: now - HOUR,
        expires: now + 23 * HOUR,
        why: 'It may call what is destructive: deleteStagingSite.',
        destructive: ['deleteStagingSite'],
        requests: 120,
        from: 1,
        to: 2,
      },
    ],
  });
  await records.runs.create(waiting, { concurrency: 1, targetMs: HOUR });

  const policy = `/policies/${LONG_NAME}`;
  const paths = [
    ...maintained.flatMap(({ id }) => [`/runs/${id}`, `/targets/default/site-0001?run=${id}`]),
    '/',
    '/policies',
    '/policies?page=2',
    '/policies?group=owner',
    `/bulk/pause?policy=nightly-sync&policy=${LONG_NAME}&policy=paused-by-itself`,
    `/bulk/run?policy=nightly-sync&policy=${LONG_NAME}`,
    '/policies?state=paused&q=p&sort=next',
    '/policies?q=nothing',
    '/runs',
    '/runs?policy=nightly-sync&status=partial',
    '/runs?status=stopped',
    '/runs?from=yesterday',
    '/runs?reason=timeout&trigger=schedule&account=default&from=3650d&to=2099-01-01',
    `/bulk/cancel?run=${running.id}&run=${finished.id}`,
    `/bulk/retry?run=${finished.id}&run=${running.id}`,
    `/runs/${running.id}`,
    `/runs/${running.id}?outcome=failed&search=site`,
    `/runs/${running.id}/cancel`,
    `/runs/${running.id}/end`,
    `/runs/${finished.id}`,
    `/runs/${finished.id}/retry`,
    `/runs/${finished.id}/compare`,
    `/runs/${finished.id}/compare?with=${finished.id}`,
    // In the time zone of the browser, so that the page does not open it again in that zone.
    '/schedule?zone=Asia%2FTokyo',
    `/schedule?zone=Asia%2FTokyo&day=${isoDay(now + 48 * HOUR)}`,
    '/schedule?zone=Asia%2FTokyo&day=2000-01-01&q=nightly',
    '/schedule?zone=Asia%2FTokyo&q=nothing',
    `/schedule?zone=Asia%2FTokyo&from=${isoDay(now)}T00:00Z&to=${isoDay(now + 24 * HOUR)}T00:00Z`,
    '/freezes/add',
    '/budget',
    '/budget?span=week&by=policy&account=second',
    '/?account=second',
    '/runs?account=default',
    '/system',
    '/sessions',
    '/queues',
    '/search',
    '/search?q=site',
    '/search?q=nothing-has-this',
    '/sites',
    '/sites?result=failed&q=site&account=default',
    '/sites?q=nothing-has-this',
    '/sites?not_backed_up=7d',
    '/sites?client=nobody&tag=priority-1&connection=connected&not_synced=3d&findings=open&kind=other',
    '/findings',
    '/findings?severity=warning&state=new&q=site',
    '/findings?state=resolved',
    '/findings?policy=nothing-has-this',
    '/approvals',
    `/runs/${waiting.id}`,
    `/runs/${waiting.id}/approve`,
    `/runs/${waiting.id}/reject`,
    '/notifications',
    '/notifications?state=dead&receiver=ops&from=7d',
    '/bulk/resend',
    '/bulk/acknowledge?severity=warning',
    '/findings?from=nonsense',
    '/notifications?policy=nothing-has-this',
    '/notifications/msg_dead',
    '/notifications/msg_dead/resend',
    '/receivers/ops/test',
    '/notifications/msg_delivered',
    '/notifications/msg_waiting',
    '/audit',
    '/audit?result=refused',
    '/audit?who=nobody',
    policy,
    `${policy}/trends`,
    `${policy}/plan`,
    `${policy}/definition`,
    `${policy}/changes`,
    '/policies/nightly-sync',
    '/policies/nightly-sync?before=1',
    '/policies/nightly-sync/trends',
    '/policies/nightly-sync/plan',
    '/policies/nightly-sync/definition',
    '/policies/nightly-sync/changes',
    '/policies/switched-off',
    `${policy}/run`,
    `${policy}/pause`,
    '/policies/paused-by-itself/resume',
    `/targets/default/site-0001?run=${finished.id}`,
    '/no-such-page',
  ];
  return { world, paths };
}

/** A plan with everything that its tab can show. */
const aPlanToShow = (now: number): StoredPreview => ({
  at: now - HOUR,
  by: 'anna',
  hash: 'an earlier version',
  list: 'listSites',
  counts: { targets: 4_711, settled: 1, excluded: 320 },
  targets: [
    {
      id: 'site-0001',
      label: LONG_LABEL,
      does: 'createSiteNote, syncSite; then not known: It depends on syncSite.',
    },
    { id: 'site-0002', label: 'short.example', does: 'syncSite' },
  ],
  settled: [
    { id: 'site-0003', label: LONG_LABEL, outcome: 'skipped', why: 'The limit of a day is reached.' },
  ],
  excluded: [{ id: 'site-0004', label: LONG_LABEL, why: 'The condition select.where does not hold.' }],
  reasons: [
    { why: 'The condition select.where does not hold.', count: 300 },
    { why: 'It is frozen.', count: 20 },
  ],
  batches: [
    { takes: 'where site.tags.exists(t, t.name == "canary")', targets: 11 },
    { takes: '100%', targets: 4_700 },
  ],
  approval: {
    why: 'It has more than 20 targets.',
    by: ['approver', 'admin'],
    expiresMs: 24 * HOUR,
    separate: true,
    eachBatch: true,
  },
  warnings: ['No run starts now, because everything is frozen until 2026-12-01 00:00Z by anna.'],
  stoppedBy: '4711 targets are more than limits.max_targets (1000) allows.',
  spreadMs: HOUR,
  recording: { sites: 4_711, requests: 95 },
  cost: {
    planning: 48,
    acting: 4_711,
    following: 120.4,
    pastRuns: 3,
    atLeastMs: 25 * 60_000,
    takesMs: 2 * HOUR,
    runsBeside: 2,
  },
});

/** Everything that can become of a scheduled time, and enough runs to compare them. */
async function history(records: Records, now: number): Promise<void> {
  const policy = 'nightly-sync';
  const moves = { to: now, schedule: 'Europe/Berlin 0 2 * * *' };
  const before = (days: number) => now - days * 24 * HOUR - HOUR;
  await records.ledger.record(
    policy,
    [
      { scheduledFor: before(1), is: 'skipped', why: 'overlap', note: LONG_LABEL, at: now, run: 'gone' },
      { scheduledFor: before(2), is: 'skipped', why: 'blackout', note: '2026-12-20 to 2027-01-03', at: now },
      { scheduledFor: before(3), is: 'missed', at: now },
      { scheduledFor: before(4), is: 'merged', into: before(3), at: now },
      { scheduledFor: before(5), is: 'ran', run: 'no-longer-stored', at: now },
      {
        scheduledFor: before(6),
        is: 'missed',
        after: `${LONG_NAME}.20260730T020000Z`,
        at: now,
        backfill: 'b',
      },
    ],
    moves,
  );
  for (let night = 7; night < 32; night += 1) {
    const createdAt = before(night);
    const run = aRun({ id: `${policy}.night-${night}`, createdAt, requests: night < 12 ? 900 : 100 + night });
    const results = [ended('a', night % 5 === 0 ? 'failed' : 'succeeded'), ended('b', 'skipped')];
    await remember(records, run, results);
    await records.runs.move(run, night % 5 === 0 ? 'failed' : 'succeeded', {
      at: createdAt + night * 60_000,
    });
  }
}

/** Findings of several days and policies: more than a page of them, with long texts. */
async function leaveFindings(records: Records, now: number): Promise<void> {
  const long = { label: LONG_LABEL, message: `The last good backup of ${LONG_LABEL} is 3 days old.` };
  const many = Array.from({ length: 60 }, (_, index) => ({ target: `site-1${index}`, ...long }));
  for (const [index, policy] of [LONG_NAME, 'nightly-sync', 'policy-without-a-file'].entries()) {
    const from = now - (5 - index) * 24 * HOUR;
    await findIn(records, { policy, at: from, found: many.slice(0, 10 + 20 * index) });
    await findIn(records, {
      policy,
      at: now - HOUR * (index + 1),
      found: many.slice(5).map((one, at) => ({ ...one, severity: at % 3 === 0 ? 'error' : 'warning' })),
    });
  }
}

/** Runs of a policy with steps: one with recordings that failed or wait for long, and one with findings. */
async function maintenance(records: Records, now: number): Promise<Run[]> {
  const at = now - 2 * HOUR;
  const steps = ['announce-the-maintenance', 'site-sync', 'note-with-a-rather-long-name'].map((name) => ({
    name,
    job: name,
  }));
  const found = {
    ...{ target: 'site-0001', label: LONG_LABEL, about: 'site', severity: 'error' as const },
    ...{ message: 'Last good sync 3 days ago', since: at },
  };
  const policyJson = JSON.stringify({ ...aPolicy('monthly-maintenance'), steps });
  const run = aRun({
    id: 'monthly-maintenance.1',
    policy: 'monthly-maintenance',
    createdAt: at,
    policyJson,
    findings: {
      open: 4,
      new: 1,
      resolved: 12,
      firstNew: [found],
      firstResolved: [{ ...found, severity: 'info' }],
    },
  });
  const sites = ['site-0001', 'site-0002', 'site-0003'];
  const why =
    'The service answers createSiteCustomWorks with HTTP 503: the storage of the account is not available.';
  const { findings: _, ...plain } = run;
  const recorded = { ...plain, id: 'monthly-maintenance.0' };
  await leaveUnrecorded(records, recorded, { sites, at, why });
  const done = { reason: 'done', at, detail: 'The note was made: "Maintenance begins".' } as const;
  await remember(records, run, [
    ended('site-0001', 'succeeded', {
      label: LONG_LABEL,
      steps: [done, { reason: 'already-done', at, taskId: 'task-0001-0002-0003' }, done],
    }),
    ended('site-0002', 'failed', {
      detail: 'Step 2 (site-sync): The disk of the site is full.',
      steps: [done],
      findings: [{ severity: 'error', about: 'site', message: 'Last good sync 3 days ago' }],
    }),
    aTarget('site-0003', {
      state: 'waiting',
      startedAt: at,
      steps: [done],
      detail: 'The service was asked to wait.',
    }),
    aTarget('site-0004'),
  ]);
  const { outbox } = records;
  const site = await outbox.claim('default', at + 2 * DUE_MS, DUE_MS);
  const read = site && (await outbox.recordOf(recorded.id, site.site));
  if (!site || !read) throw new Error('A site waits to be recorded.');
  await outbox.setState(site, recorded.id, 'work', read, { state: 'failed', why });
  await outbox.setState(site, recorded.id, 'note', read, {
    state: 'left',
    why: 'A person has removed the note.',
  });
  return [recorded, run];
}

/** A notification in each state, with long texts. */
async function notifications(records: Records, now: number): Promise<void> {
  const text = `${LONG_NAME} failed: of 40 targets, 12 failed.\n${LONG_LABEL}: timeout: The time limit passed.`;
  const at = now - HOUR;
  const why = { 404: 'it answered with HTTP 404', none: 'no answer within 10 s' };
  const results: [string, Result | undefined][] = [
    ['delivered', { state: 'delivered', attempt: { at, is: 'delivered', ms: 84 } }],
    ['dead', { state: 'dead', attempt: { at, is: 'rejected', ms: 12, why: why[404] } }],
    [
      'waiting',
      { state: 'pending', attempt: { at, is: 'failed', ms: 10_000, why: why.none }, due: now + HOUR },
    ],
    ['new', undefined],
  ];
  for (const [name, result] of results) {
    const to = name === 'dead' ? 'ops' : 'a-receiver-with-a-name-that-is-rather-long-for-a-column';
    const run = `${LONG_NAME}.20260730T020000Z`;
    const about = { event: 'run.failed', policy: LONG_NAME, account: 'default', run };
    await deliver(records, { id: `msg_${name}`, to, at, ...about, message: { text } }, result);
  }
}
