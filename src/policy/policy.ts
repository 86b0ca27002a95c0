/**
 * What a policy is once it has been read: every default filled in, every duration in milliseconds, frozen.
 *
 * It is described as a schema, since runs and running processes keep their policies in Redis: there they are
 * parsed again.
 */
import { z } from 'zod';
import { operators } from '../contract/list.ts';
import {
  type CandidateList,
  type CandidateSource,
  candidateLists,
  candidateSources,
} from '../job/candidates.ts';
import { weekdays } from '../yaml/days.ts';

const { exactOptional: optional } = z;
const text = z.string();
const number = z.number();
const yes = z.literal(true);
/** A value of a filter; a name in place of an id is looked up when a run is planned. */
const value = z.union([text, number, z.boolean(), z.object({ name: text })]);

export const overlaps = ['skip', 'queue', 'queue-all', 'cancel-running', 'allow'] as const;
export type Overlap = (typeof overlaps)[number];

export const gaps = ['shift', 'skip'] as const;
export const foldings = ['first', 'last', 'both'] as const;
/** What becomes of a time of day when clocks change: one that is skipped, and one that comes twice. */
const ClockChange = z.object({ gap: z.enum(gaps), overlap: z.enum(foldings) });
export type ClockChange = z.output<typeof ClockChange>;

export const blackoutMoves = ['next_workday', 'previous_workday'] as const;
/** Days without firings; `calendar` is the one in the configuration that they come from. */
const Blackout = z.union([
  z.object({ from: text, to: text, calendar: optional(text) }),
  z.object({ weekday: z.enum(weekdays), calendar: optional(text) }),
]);
export type Blackout = z.output<typeof Blackout>;

/** Which of the runs that want the same requests goes ahead. */
export const priorities = ['high', 'normal', 'low'] as const;
export type Priority = (typeof priorities)[number];

/** What each priority weighs when runs share an account: how much of them is in flight at the same time. */
export const weights: Record<Priority, number> = { high: 9, normal: 3, low: 1 };

/** The ends of a run that can start the policies after it. */
export const chainStatuses = ['succeeded', 'partial', 'failed', 'stopped', 'cancelled'] as const;

/** It fires when a run of another policy has ended. */
const After = z.object({
  policy: text,
  status: z.array(z.enum(chainStatuses)),
  /** An end that is noticed later than this starts no run. */
  withinMs: number,
});
export type After = z.output<typeof After>;

const Schedule = z.object({
  /** Empty with `after`. */
  cron: z.array(text),
  after: optional(After),
  timezone: text,
  /** Missing: a time that does not exist on a day fires at the first one after it, one that comes twice the first time. */
  dst: optional(ClockChange),
  jitterMs: number,
  /** Scheduled runs start their targets evenly over this time; missing: as fast as limits and budget allow. */
  spreadMs: optional(number),
  overlap: z.enum(overlaps),
  /** A firing missed by no more than this still runs; 0 = never. */
  catchupMs: number,
  /** Every missed firing runs, one after the other; else the latest runs for all. */
  catchesAll: optional(yes),
  /** It starts only manual runs; its scheduled times are recorded as skipped. */
  disabled: optional(yes),
  /** Days in the schedule's time zone, those of calendars among them. */
  blackout: z.array(Blackout),
  /** Where times on those days are moved; missing: they are skipped. */
  onBlackout: optional(z.enum(blackoutMoves)),
  pauseAfterFailures: optional(number),
});
export type Schedule = z.output<typeof Schedule>;

const list = z.custom<CandidateList>(
  (name) => typeof name === 'string' && Object.hasOwn(candidateLists, name),
);
const filters = z.record(text, z.partialRecord(z.enum(operators), z.union([value, z.array(value)])));

/** The list is read once for each item of another list. */
const ForEach = z.object({
  list,
  filters,
  /** CEL over that list's items and `now`. */
  where: optional(text),
});
export type ForEach = z.output<typeof ForEach>;

/** Another list; the items that belong to a candidate are its partners. */
const Join = z.object({ list, filters, on: text });

const Select = z.object({
  /** Where the candidates come from, for a job that works on any list. */
  from: optional(z.custom<CandidateSource>((name) => candidateSources.some((source) => source === name))),
  forEach: optional(ForEach),
  /** By the names of the variables that hold the partners. */
  join: optional(z.record(text, Join)),
  filters,
  /** CEL over the job's subject and `now`; checked when loaded. */
  where: optional(text),
  sort: optional(text),
  timezone: optional(text),
  limit: optional(number),
  /** How many single views a plan requests; missing: 100. */
  singleViews: optional(number),
});
export type Select = z.output<typeof Select>;

/** A number, or a percentage of the planned targets. */
const Threshold = z.union([z.object({ count: number }), z.object({ percent: number })]);
export type Threshold = z.output<typeof Threshold>;

/** What is written to the sites about the work that was done. */
const Recording = z.object({
  /** The texts of the entry, with expressions in them. */
  customWork: optional(z.object({ title: text, description: optional(text) })),
  note: optional(z.literal('living')),
});

const GroupLimits = z.object({ concurrency: optional(number), maxTargets: optional(number) });
export type GroupLimits = z.output<typeof GroupLimits>;

/** A time of day in the schedule's zone, in minutes after midnight; or a time after the scheduled time. */
const Deadline = z.union([z.object({ minute: number }), z.object({ afterMs: number })]);
export type Deadline = z.output<typeof Deadline>;

/** Which runs need the approval of a person before they start, and who may give it. */
const Approval = z.object({
  when: z.union([z.enum(['always', 'destructive']), z.object({ overTargets: number })]),
  /** Names of roles or users; missing: everyone with the role approver. */
  by: optional(z.array(text)),
  expiresMs: number,
  /** Not by the user who started the run. */
  separate: optional(yes),
  eachBatch: optional(yes),
});
export type ApprovalRule = z.output<typeof Approval>;

/** The targets for which a condition holds, this many, or such a part of the whole plan. */
const Batch = z.union([
  z.object({ where: text }),
  z.object({ percent: number }),
  z.object({ count: number }),
]);

const Rollout = z.object({
  batches: z.array(Batch),
  /** Between the end of a batch and the gate before the next one. */
  pauseMs: number,
  /** More failed targets than this close the gate. */
  maxFailed: Threshold,
  /** CEL over each target that is done, as `select.where`. */
  healthy: optional(text),
  /** How long a run with a closed gate waits for a person. */
  waitWhenClosedMs: number,
});
export type RolloutRule = z.output<typeof Rollout>;

export const Policy = z.object({
  name: text,
  description: optional(text),
  /** Who is responsible for it, for people. */
  owner: optional(text),
  labels: optional(z.record(text, text)),
  account: text,
  /** For a policy with steps, the names of their jobs, for people: `jobOf` gives the job. */
  job: text,
  /** Several jobs that work on each target one after the other, instead of one. */
  steps: optional(z.array(z.object({ name: text, job: text })).min(2)),
  priority: z.enum(priorities),
  schedule: optional(Schedule),
  select: Select,
  /** The job's own options, as its schema read them. JSON. With steps, a list of those of each. */
  options: z.unknown(),
  limits: z.object({
    concurrency: number,
    maxTargets: number,
    maxPercent: number,
    stopAfterFailures: optional(Threshold),
    /** How far the number of targets may be outside those of earlier runs. Missing: it depends on the job. */
    maxChange: optional(z.union([Threshold, z.literal('none')])),
    /** For the targets of one client, and for those with one tag. */
    perClient: optional(GroupLimits),
    perTag: optional(GroupLimits),
  }),
  retry: z.object({
    attempts: number,
    backoff: z.enum(['exponential', 'fixed']),
    delayMs: number,
    maxDelayMs: number,
  }),
  /** A target that the service refuses with a message that contains one of these is skipped; missing: it fails. */
  acceptRejections: optional(z.array(text)),
  timeout: z.object({ targetMs: number, runMs: number }),
  /** How old what a change that cannot be undone rests on may be; missing: 15 seconds. */
  recheck: optional(z.object({ maxAgeMs: number })),
  /** When its scheduled runs have to be done. */
  deadline: optional(Deadline),
  window: optional(z.object({ until: Deadline })),
  /** Who is notified of what (ends of runs, `blocked`, `paused`): a name under `notifications` in the config. */
  notify: z.array(
    z.object({
      on: z.array(text),
      /** With a route: the receiver for targets that no rule takes, and for what is not about single targets. */
      to: text,
      streak: optional(number),
      route: optional(z.array(z.object({ client: optional(text), tag: optional(text), to: text }))),
    }),
  ),
  record: optional(Recording),
  approval: optional(Approval),
  rollout: optional(Rollout),
  /** The file it was read from, and a hash of all that decides what it does. */
  file: text,
  /** The line of the file at which its entry begins. */
  line: optional(number),
  hash: text,
});
export type Policy = z.output<typeof Policy>;
