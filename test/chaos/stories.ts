/**
 * What happens while processes are killed: for each kind of run how it starts, and how the service shows
 * whether its record is correct.
 */
import { apiCall } from '../../jobs/api-call/job.ts';
import { reportDispatch } from '../../jobs/report-dispatch/job.ts';
import { siteSync } from '../../jobs/site-sync/job.ts';
import { stagingCleanup } from '../../jobs/staging-cleanup/job.ts';
import { updateCheck } from '../../jobs/update-check/job.ts';
import type { Reason } from '../../src/run/reasons.ts';
import type { Sandbox } from '../../src/sandbox/sandbox.ts';
import { chains } from './chain-stories.ts';
import { graces } from './grace-stories.ts';
import { notices } from './notice-story.ts';
import { recordings } from './recording-stories.ts';
import { rings } from './rings-story.ts';
import { rollouts } from './rollout-stories.ts';
import { onceNotes, steps } from './steps-stories.ts';
import { countBy, type Evidence, nextSites, type Scene, type Story, TARGETS, timesOn } from './story.ts';
import { undos } from './undo-stories.ts';

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

const always = () => TARGETS;

const syncs: Story = {
  name: 'chaos-sync',
  operations: ['syncSite'],
  begin: (sandbox, at) => ({
    policy: { job: 'site-sync', options: siteSync.options.parse({ mode: 'all' }) },
    only: nextSites(sandbox, at),
    planned: always,
    lies: syncLies,
  }),
};

function* syncLies({ targets, effects, sandbox }: Evidence): Iterable<string> {
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
}

/** One old copy of each of so many sites: the copy's id, and its site's. */
function copies(sandbox: Sandbox, at: number): Map<string, string> {
  sandbox.staging.clear();
  return new Map(nextSites(sandbox, at).map((site) => [sandbox.staging.make(site, 15), site]));
}

const announcements: Story = {
  name: 'chaos-announce',
  operations: ['createSiteNote', 'updateSiteNote'],
  begin(sandbox, at) {
    const siteOf = copies(sandbox, at);
    return {
      policy: {
        job: 'staging-cleanup',
        options: stagingCleanup.options.parse({ action: 'delete', older_than: '14d', grace: '3d' }),
      },
      planned: always,
      *lies({ targets }) {
        for (const { id, reason = 'internal' } of targets) {
          const notes = sandbox.site(siteOf.get(id) ?? '').notes();
          const times = notes.filter((content) => content.includes(`: ${id} from `)).length;
          if (times > 1) yield `${id} is ${reason}, and was announced ${times} times`;
          if (reason === 'announced' && times === 0) yield `${id} is announced, and there is no note`;
        }
      },
    };
  },
};

const deletions: Story = {
  name: 'chaos-delete',
  operations: ['deleteStagingSite'],
  begin(sandbox, at) {
    copies(sandbox, at);
    return {
      policy: {
        job: 'staging-cleanup',
        options: stagingCleanup.options.parse({ action: 'delete', older_than: '14d', grace: 0 }),
      },
      planned: (round) => (round === 0 ? TARGETS : undefined),
      lies: deletionLies,
    };
  },
};

function* deletionLies({ targets, effects, sandbox }: Evidence): Iterable<string> {
  const there = new Set(sandbox.staging.ids());
  const deleted = countBy(effects, 'deleteStagingSite');
  for (const { id, reason = 'internal' } of targets) {
    const gone = !there.has(id);
    if (reason === 'done' && !deleted.has(id)) yield `${id} is done, and was not deleted by this run`;
    if (
      gone !== ['done', 'already-done', 'adopted', 'gone'].includes(reason) &&
      reason !== 'unknown-effect'
    ) {
      yield `${id} is ${reason}, and ${gone ? 'gone' : 'still there'}`;
    }
  }
}

const DAY_MS = 86_400_000;
const dayOf = (at: number) => new Date(at).toISOString().slice(0, 10);

/** The recipients of the reports. */
const RECIPIENT = 'owner@agency.example';
/** Reasons with which a report may be incomplete: it may be unsent or still being made. */
const undecided = new Set<Reason>(['unknown-effect', 'unavailable', 'timeout', 'internal']);

const reports: Story = {
  name: 'chaos-report',
  operations: ['createReport', 'sendReportEmail'],
  begin: (sandbox, at, now) => {
    // Days that no other run uses.
    const from = now - (3 + (at % 60)) * DAY_MS;
    const period = { start: dayOf(from), end: dayOf(from + DAY_MS) };
    const before = new Map<string, number>();
    return {
      policy: {
        job: 'report-dispatch',
        options: reportDispatch.options.parse({
          template: { name: 'Monthly care' },
          period,
          recipients: [RECIPIENT],
        }),
      },
      only: nextSites(sandbox, at),
      planned: always,
      *lies({ targets, effects, allEffects }) {
        const mailed = countBy(effects, 'sendReportEmail');
        const mailedEver = countBy(allEffects, 'sendReportEmail');
        for (const { id, reason = 'internal' } of targets) {
          const about = sandbox
            .site(id)
            .reports()
            .filter(({ start, end }) => start === period.start && end === period.end);
          const found = {
            made: about.length,
            madeByThisRun: about.length - (before.get(id) ?? 0),
            sent: about.filter(({ sentTo }) => sentTo.includes(RECIPIENT)).length,
            mails: about.reduce((sum, report) => sum + (mailedEver.get(report.id) ?? 0), 0),
            mailsOfThisRun: about.reduce((sum, report) => sum + (mailed.get(report.id) ?? 0), 0),
          };
          before.set(id, about.length);
          if (!isReportedAs(reason, found)) yield `${id} is ${reason}: ${JSON.stringify(found)}`;
        }
      },
    };
  },
};

/**
 * Whether an outcome is correct: never two reports on a site and period, never two mails, and everything in
 * the record is true.
 */
function isReportedAs(
  reason: Reason,
  {
    made,
    madeByThisRun,
    sent,
    mails,
    mailsOfThisRun,
  }: Record<'made' | 'madeByThisRun' | 'sent' | 'mails' | 'mailsOfThisRun', number>,
): boolean {
  if (made > 1 || mails > 1) return false;
  if (undecided.has(reason)) return true;
  if (reason === 'done') return sent === 1 && mailsOfThisRun === 1;
  return reason === 'already-done' ? sent === 1 : madeByThisRun === 0 && mailsOfThisRun === 0;
}

const updates: Story = {
  name: 'chaos-updates',
  operations: ['enableAutoUpdateSchedule', 'disableAutoUpdateSchedule'],
  begin(sandbox, at) {
    const only = nextSites(sandbox, at).map((site, i) => {
      if (i % 2 === 0) return sandbox.schedules.make(site, 'paused');
      const schedule = sandbox.schedules.make(site, 'active');
      sandbox.site(site).fallBehind();
      sandbox.site(site).failNextSync('disk full');
      // It is in progress while the run is planned, and fails: then the schedule has to be paused.
      sandbox.schedule(schedule).runNow(60_000);
      return schedule;
    });
    return {
      policy: {
        job: 'update-check',
        options: updateCheck.options.parse({ enable_paused: true, pause_on_failed_rate: '50%', fail_on: [] }),
      },
      only,
      planned: always,
      lies: updateLies,
    };
  },
};

function* updateLies({ targets, effects, sandbox }: Evidence): Iterable<string> {
  const changed = {
    enabled: countBy(effects, 'enableAutoUpdateSchedule'),
    Paused: countBy(effects, 'disableAutoUpdateSchedule'),
  };
  for (const { id, reason = 'internal', findings = [] } of targets) {
    if (undecided.has(reason)) continue;
    const { status } = sandbox.schedule(id).state();
    const [{ message: standing = '' } = {}] = findings.filter(({ about }) => about === 'schedule');
    // A schedule that does not show its status is not changed.
    if (reason !== 'not-eligible' && standing.startsWith('Paused') !== (status === 'paused'))
      yield `${id} is ${reason}, and ${status}: ${standing}`;
    for (const [what, times] of Object.entries(changed)) {
      const told = findings.some(({ message: says }) => says.includes(`${what} by this check`));
      if (told !== times.has(id))
        yield `${id} is ${reason}, ${told ? '' : 'not '}told to be ${what}, and it is not so`;
    }
  }
}

const notes: Story = {
  name: 'chaos-note',
  operations: ['createSiteNote'],
  begin(sandbox, at) {
    const content = `Leader for the ${at}th time.`;
    const only = nextSites(sandbox, at);
    const before = new Map<string, number>();
    return {
      policy: {
        job: 'api-call',
        select: { from: 'listSites', filters: {} },
        options: apiCall.options.parse({ operation: 'createSiteNote', body: { note: { content } } }),
      },
      only,
      planned: always,
      *lies({ targets }) {
        for (const { id, reason = 'internal' } of targets) {
          const now = timesOn(sandbox, id, content);
          const times = now - (before.get(id) ?? 0);
          before.set(id, now);
          if (times > 1) yield `${id} is ${reason}, and was noted ${times} times by this run`;
          else if (reason !== 'unknown-effect' && (reason === 'done') !== (times === 1))
            yield `${id} is ${reason}, and was noted ${times} times by this run`;
        }
      },
    };
  },
};

/**
 * Run at the same time, about the same sites. Stories whose effects could be confused run one after the
 * other.
 */
export const lanes: readonly (readonly Story[])[] = [
  [syncs, reports, steps, updates, undos, rings],
  [announcements, notes, graces, onceNotes, deletions, rollouts],
  [recordings, chains, notices],
];

/** Errors after any run, whatever it did: each target needs an outcome, and no effect may happen twice. */
export function judge(scene: Scene, evidence: Evidence): string[] {
  const { run, round, targets, effects } = evidence;
  const wrong = [...scene.lies(evidence)];
  const ids = new Set(targets.map(({ id }) => id));
  const expected = scene.planned(round) ?? targets.length;
  if (ids.size !== expected || targets.length !== expected) {
    wrong.push(
      `has ${targets.length} targets, ${ids.size} of them different; ${expected} were to be planned`,
    );
  }
  for (const { id, outcome, reason } of targets) {
    if (outcome === undefined) wrong.push(`${id} has no outcome`);
    // No work takes nearly as long as the time limit.
    if (reason === 'timeout') wrong.push(`${id} is timeout`);
  }
  for (const operation of new Set(effects.map((effect) => effect.operation))) {
    for (const [resource, times] of countBy(effects, operation)) {
      if (times > 1) wrong.push(`${operation} happened ${times} times to ${resource}`);
    }
  }
  const { planned, succeeded, failed, skipped, cancelled } = run.counts;
  if (planned !== expected || succeeded + failed + skipped + cancelled !== planned) {
    wrong.push(`counts do not add up: ${JSON.stringify(run.counts)}`);
  }
  return wrong;
}
