/** What a policy is once it has been read: every default filled in, every duration in milliseconds, frozen. */
import type { ListQuery } from '../contract/list.ts';
import type { CandidateList } from '../job/candidates.ts';
import type { Days } from '../yaml/days.ts';

export const overlaps = ['skip', 'queue', 'queue-all', 'cancel-running', 'allow'] as const;
export type Overlap = (typeof overlaps)[number];

/** What becomes of a time of day when clocks change: one that is skipped, and one that comes twice. */
export interface ClockChange {
  gap: (typeof gaps)[number];
  overlap: (typeof foldings)[number];
}
export const gaps = ['shift', 'skip'] as const;
export const foldings = ['first', 'last', 'both'] as const;

/** Days without firings; `calendar` is the one in the configuration that they come from. */
export type Blackout = Days & { calendar?: string };

/** Which of the runs that want the same requests goes ahead. */
export const priorities = ['high', 'normal', 'low'] as const;
export type Priority = (typeof priorities)[number];

/** What each priority weighs when runs share an account: how much of them is in flight at the same time. */
export const weights: Record<Priority, number> = { high: 9, normal: 3, low: 1 };

export interface Schedule {
  cron: string[];
  timezone: string;
  /** Missing: a skipped time fires at the first moment after it, one that comes twice the first time. */
  dst?: ClockChange;
  jitterMs: number;
  /** Scheduled runs start their targets evenly over so long; missing: as fast as limits and budget allow. */
  spreadMs?: number;
  overlap: Overlap;
  /** A firing missed by no more than this still runs; 0 = never. */
  catchupMs: number;
  /** Every missed firing runs, one after the other; else the latest runs for all. */
  catchesAll?: true;
  /** It fires only by hand; the moments are there and are left out. */
  disabled?: true;
  /** Days in the schedule's time zone, those of calendars among them. */
  blackout: Blackout[];
  pauseAfterFailures?: number;
}

export interface Select {
  /** The list the candidates come from, for a job that works on any. */
  from?: CandidateList;
  filters: NonNullable<ListQuery['filters']>;
  /** CEL over the job's subject and `now`; checked when loaded. */
  where?: string;
  sort?: string;
  timezone?: string;
  limit?: number;
}

/** So many, or such a share of the planned targets. */
export type Threshold = { count: number } | { percent: number };

export interface Policy {
  name: string;
  description?: string;
  account: string;
  job: string;
  priority: Priority;
  schedule?: Schedule;
  select: Select;
  /** The job's own options, as its schema read them. JSON. */
  options: unknown;
  limits: {
    concurrency: number;
    maxTargets: number;
    maxPercent: number;
    stopAfterFailures?: Threshold;
  };
  retry: { attempts: number; backoff: 'exponential' | 'fixed'; delayMs: number; maxDelayMs: number };
  timeout: { targetMs: number; runMs: number };
  /** What is told to whom (ends of runs, `blocked`, `paused`): a name under `notifications` in the config. */
  notify: { on: string[]; to: string }[];
  /** The file it was read from, and a hash of all that decides what it does. */
  file: string;
  hash: string;
}
