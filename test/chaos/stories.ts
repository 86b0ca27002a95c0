/** What goes on while processes are killed: for each kind of run how it begins, and how the service knows whether its record is true. */
import { apiCall } from '../../jobs/api-call.ts';
import { reportDispatch } from '../../jobs/report-dispatch.ts';
import { siteSync } from '../../jobs/site-sync.ts';
import { stagingCleanup } from '../../jobs/staging-cleanup.ts';
import { updateCheck } from '../../jobs/update-check.ts';
import type { Policy } from '../../src/policy/policy.ts';
import type { Reason } from '../../src/run/reasons.ts';
import type { Run, Target } from '../../src/run/run.ts';
import type { JournaledEffect } from '../../src/sandbox/journal.ts';
import type { Sandbox } from '../../src/sandbox/sandbox.ts';

export interface Evidence {
  run: Run;
  targets: readonly Target[];
  /** What happened in the account since the run was fired. */
  effects: readonly JournaledEffect[];
  sandbox: Sandbox;
}

export interface Story {
  name: string;
  /** Prepares the account for the `at`th run, which begins `now`, and says what is to run. */
  begin(sandbox: Sandbox, at: number, now: number): Partial<Policy> & { only?: string[] };
  /** How many targets the run must have. */
  planned: number;
  /** What the records say that is not so. */
  lies(evidence: Evidence): Iterable<string>;
}

/** Targets of one run. */
const TARGETS = 40;

/** The next sites in turn: one takes five syncs a day. */
function nextSites(sandbox: Sandbox, at: number): string[] {
  const ids = sandbox.siteIds();
  return Array.from({ length: TARGETS }, (_, i) => ids[(at * TARGETS + i) % ids.length] ?? '');
}

/** Reasons with which a sync may not have been started by us. */
const untouched = new Set<Reason>([
  'daily-limit',
  'maintenance',
  'not-eligible',
  'conflict',
  'unavailable',
  'gone',
  'rejected',
]);
/** How the service must have seen a sync end, by what the record says. */
const ends: Partial<Record<Reason, string>> = {
  done: 'succeeded',
  adopted: 'succeeded',
  'task-failed': 'failed',
};

const syncs: Story = {
  name: 'chaos-sync',
  planned: TARGETS,
  begin: (sandbox, at) => ({
    job: 'site-sync',
    options: siteSync.options.parse({ mode: 'all' }),
    only: nextSites(sandbox, at),
  }),
  *lies({ targets, effects, sandbox }) {
    const synced = countBy(effects, 'syncSite');
    for (const { id, reason = 'internal' } of targets) {
      const times = synced.get(id) ?? 0;
      if (reason === 'done' && times !== 1) yield `${id} is done, and was synced ${times} times`;
      if (untouched.has(reason) && times !== 0) yield `${id} is ${reason}, and was synced`;
      const told = ends[reason];
      if (told === undefined) continue;
      const { lastSyncStatus, syncInProgress } = sandbox.site(id).state();
      if (syncInProgress || lastSyncStatus !== told) {
        yield `${id} is ${reason}, and its sync ${syncInProgress ? 'still runs' : lastSyncStatus}`;
      }
    }
    for (const id of synced.keys())
      if (!targets.some((target) => target.id === id)) yield `${id} was synced, and is not in the plan`;
  },
};

/** One old copy of each of so many sites. */
function copies(sandbox: Sandbox, at: number): void {
  sandbox.staging.clear();
  for (const id of nextSites(sandbox, at)) sandbox.staging.make(id, 15);
}

const announcements: Story = {
  name: 'chaos-announce',
  planned: TARGETS,
  begin(sandbox, at) {
    copies(sandbox, at);
    return {
      job: 'staging-cleanup',
      options: stagingCleanup.options.parse({ action: 'delete', older_than: '14d', grace: '3d' }),
    };
  },
  *lies({ targets, effects }) {
    const made = effects.filter(({ operation }) => operation === 'createSiteNote').length;
    const told = targets.filter(({ reason }) => reason === 'announced').length;
    const unknown = targets.filter(({ reason }) => reason === 'unknown-effect').length;
    if (made < told || made > told + unknown) {
      yield `${told} copies are announced and ${unknown} unknown, and ${made} notes were made`;
    }
  },
};

const deletions: Story = {
  name: 'chaos-delete',
  planned: TARGETS,
  begin(sandbox, at) {
    copies(sandbox, at);
    return {
      job: 'staging-cleanup',
      options: stagingCleanup.options.parse({ action: 'delete', older_than: '14d', grace: 0 }),
    };
  },
  *lies({ targets, sandbox }) {
    const there = new Set(sandbox.staging.ids());
    for (const { id, reason = 'internal' } of targets) {
      const gone = !there.has(id);
      if (gone !== ['done', 'already-done', 'adopted'].includes(reason) && reason !== 'unknown-effect') {
        yield `${id} is ${reason}, and ${gone ? 'gone' : 'still there'}`;
      }
    }
  },
};

const DAY_MS = 86_400_000;
const dayOf = (at: number) => new Date(at).toISOString().slice(0, 10);

/** Who gets the reports. */
const RECIPIENT = 'owner@agency.example';
/** Reasons with which a report may be half made: nobody need have been sent it, and its making may go on. */
const undecided = new Set<Reason>(['unknown-effect', 'unavailable', 'timeout', 'internal']);

const reports: Story = {
  name: 'chaos-report',
  planned: TARGETS,
  begin: (sandbox, at, now) => {
    // Days that no other run is about.
    const start = now - (3 + (at % 60)) * DAY_MS;
    return {
      job: 'report-dispatch',
      options: reportDispatch.options.parse({
        template: 'Monthly care',
        period: { start: dayOf(start), end: dayOf(start + DAY_MS) },
        recipients: [RECIPIENT],
      }),
      only: nextSites(sandbox, at),
    };
  },
  *lies({ run, targets, sandbox }) {
    const { period } = (JSON.parse(run.policyJson) as Policy).options as { period: object };
    for (const { id, reason = 'internal' } of targets) {
      const about = sandbox
        .site(id)
        .reports()
        .filter(({ start, end }) => JSON.stringify({ start, end }) === JSON.stringify(period));
      const sent = about.filter(({ sentTo }) => sentTo.includes(RECIPIENT)).length;
      if (about.length > 1) yield `${id} is ${reason}, and has ${about.length} reports`;
      if (reason === 'done' && sent !== 1) yield `${id} is done, and ${sent} reports of it were sent`;
      if (reason !== 'done' && !undecided.has(reason) && about.length > 0)
        yield `${id} is ${reason}, and has a report`;
    }
  },
};

const updates: Story = {
  name: 'chaos-updates',
  planned: TARGETS,
  begin(sandbox, at) {
    const only = nextSites(sandbox, at).map((site, i) => {
      if (i % 2 === 0) return sandbox.schedules.make(site, 'paused');
      const schedule = sandbox.schedules.make(site, 'active');
      sandbox.site(site).fallBehind();
      sandbox.site(site).failNextSync('disk full');
      // It goes on while the run is planned, and fails: then it is to be paused.
      sandbox.schedule(schedule).runNow(60_000);
      return schedule;
    });
    return {
      job: 'update-check',
      options: updateCheck.options.parse({ enable_paused: true, pause_on_failed_rate: '50%', fail_on: [] }),
      only,
    };
  },
  *lies({ targets, effects, sandbox }) {
    const changed = {
      enabled: countBy(effects, 'enableAutoUpdateSchedule'),
      Paused: countBy(effects, 'disableAutoUpdateSchedule'),
    };
    for (const { id, reason = 'internal', findings = [] } of targets) {
      if (undecided.has(reason)) continue;
      const { status } = sandbox.schedule(id).state();
      const [{ says: standing = '' } = {}] = findings.filter(({ about }) => about === 'schedule');
      if (standing.startsWith('Paused') !== (status === 'paused')) yield `${id} is ${status}: ${standing}`;
      for (const [what, times] of Object.entries(changed)) {
        const told = findings.some(({ says }) => says.includes(`${what} by this check`));
        if (told !== times.has(id))
          yield `${id} is ${told ? '' : 'not '}told to be ${what}, and it is not so`;
      }
    }
  },
};

const notes: Story = {
  name: 'chaos-note',
  planned: TARGETS,
  begin: (sandbox, at) => ({
    job: 'api-call',
    select: { from: 'listSites', filters: {} },
    options: apiCall.options.parse({
      operation: 'createSiteNote',
      body: { note: { content: `Looked after for the ${at}th time.` } },
    }),
    only: nextSites(sandbox, at),
  }),
  *lies({ run, targets, sandbox }) {
    const { body } = (JSON.parse(run.policyJson) as Policy).options as {
      body: { note: { content: string } };
    };
    for (const { id, reason = 'internal' } of targets) {
      const times = sandbox
        .site(id)
        .notes()
        .filter((content) => content === body.note.content).length;
      if (times > 1) yield `${id} is ${reason}, and was noted ${times} times`;
      if (reason !== 'unknown-effect' && (reason === 'done') !== (times === 1))
        yield `${id} is ${reason}, and was noted ${times} times`;
    }
  },
};

/** Told beside each other, about the same sites. Those whose effects could be taken for each other's go one after the other. */
export const lanes: readonly (readonly Story[])[] = [
  [syncs, reports, updates],
  [announcements, notes, deletions],
];

/** What is not as it must be after any run, whatever it did: each target has its outcome, and no effect happened twice. */
export function judge(story: Story, evidence: Evidence): string[] {
  const { run, targets, effects } = evidence;
  const wrong = [...story.lies(evidence)];
  const ids = new Set(targets.map(({ id }) => id));
  if (ids.size !== story.planned || targets.length !== story.planned) {
    wrong.push(
      `has ${targets.length} targets, ${ids.size} of them different; ${story.planned} were to be planned`,
    );
  }
  for (const { id, outcome } of targets) if (outcome === undefined) wrong.push(`${id} has no outcome`);
  for (const operation of new Set(effects.map((effect) => effect.operation))) {
    for (const [resource, times] of countBy(effects, operation)) {
      if (times > 1) wrong.push(`${operation} happened ${times} times to ${resource}`);
    }
  }
  const { planned, succeeded, failed, skipped, cancelled } = run.counts;
  if (planned !== story.planned || succeeded + failed + skipped + cancelled !== planned) {
    wrong.push(`counts do not add up: ${JSON.stringify(run.counts)}`);
  }
  return wrong;
}

function countBy(effects: readonly JournaledEffect[], of: JournaledEffect['operation']): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { operation, resource } of effects) {
    if (operation === of) counts.set(resource, (counts.get(resource) ?? 0) + 1);
  }
  return counts;
}
