import type { OpenRecords } from '../../app/open-records.ts';
import { isoEnd } from '../../clock.ts';
import { type PauseDeps, pausePolicy, resumePolicy } from '../../control/commands/pause-policy.ts';
import type { Loaded } from '../../policy/load-policies.ts';
import type { Policy } from '../../policy/policy.ts';
import { jobsOf } from '../../policy/policy-job.ts';
import { type Pause, pauseAt } from '../../records/policy-store.ts';
import type { Records } from '../../records/records.ts';
import type { Settings } from '../../settings/settings.ts';
import { carryOutHere } from '../carry-out-here.ts';
import {
  type GlobalOptions,
  hasRecords,
  noSuchPolicy,
  policiesOf,
  type ReasonOption,
  settingsOf,
  withRecords,
} from '../context.ts';
import { keptByDaemons } from '../effective-policies.ts';
import { exit, UsageError } from '../exit.ts';
import { formatPause } from '../output/pause.ts';
import type { Terminal } from '../output/terminal.ts';
import { endText, type UntilOptions } from '../parse-end-time.ts';

/** Which policies to change. If several criteria are given, a policy must meet all of them. */
interface Selector {
  job?: string;
  account?: string;
  all?: boolean;
}

interface PauseOptions extends GlobalOptions, Selector, UntilOptions {
  reason?: string;
}

/**
 * Pauses policies until they are resumed or the pause ends by itself. A pause survives restarts and changes
 * of the files.
 */
export async function pausePolicies(
  terminal: Terminal,
  words: string[],
  options: PauseOptions,
): Promise<number> {
  const settings = settingsOf(terminal, options);
  const loaded = await policiesOf(settings);
  if (!hasRecords(settings)) selected(words, options, { loaded, settings });
  await withRecords(terminal, options, settings, async (opened) => {
    const { records, clock } = opened;
    const at = clock.now();
    const kept = await readKept(records, at);
    const names = selected(words, options, { loaded, settings, kept });
    const policies = [...loaded.policies, ...kept];
    const disabled = disabledAmong(policies);
    const deps = { ...opened, ...depsOf(policies) };
    for (const name of names)
      await pauseOne({ deps, terminal, disabled }, name, {
        at,
        until: endText(options, at),
        reason: options.reason,
      });
  });
  return exit.ok;
}

async function pauseOne(
  {
    deps,
    terminal,
    disabled,
  }: { deps: OpenRecords & PauseDeps; terminal: Terminal; disabled: ReadonlySet<string> },
  name: string,
  { at, until, reason }: { at: number; until: string | undefined; reason: string | undefined },
): Promise<void> {
  const before = pauseAt(await deps.records.policies.state(name), at);
  if (before && reason === undefined && until === undefined) {
    terminal.message(`${name} is already ${formatPause(before)}. Nothing was changed.`);
    return;
  }
  const input = { policy: name, reason, until };
  const { pause } = await carryOutHere(pausePolicy, deps, input, terminal);
  printPaused(name, { pause, before, isDisabled: disabled.has(name) }, terminal);
}

/** Prints that a policy is paused. */
export function printPaused(
  name: string,
  {
    pause,
    before,
    isDisabled,
  }: { pause: Pick<Pause, 'until'>; before: Pause | undefined; isDisabled: boolean },
  terminal: Terminal,
): void {
  if (before) terminal.message(`This replaces an earlier pause: ${formatPause(before)}.`);
  if (isDisabled) {
    terminal.message(
      `${name} is paused${pause.until === undefined ? '' : ` until ${isoEnd(pause.until)}`}. ${STAYS_DISABLED}`,
    );
    return;
  }
  terminal.message(
    pause.until === undefined
      ? `${name} is paused. "caretaker policies resume ${name}" resumes it.`
      : `${name} is paused until ${isoEnd(pause.until)}, and is then resumed automatically.`,
  );
}

/** All names have been checked before. */
const depsOf = (policies: readonly Policy[]): PauseDeps => ({
  policy: (name) => policies.find((one) => one.name === name),
  isKnown: () => true,
});

const STAYS_DISABLED = 'Its schedule stays disabled (schedule.enabled: false).';

/** The names of policies whose schedule is disabled, paused or not. */
const disabledAmong = (policies: readonly Policy[]): ReadonlySet<string> =>
  new Set(policies.flatMap(({ name, schedule }) => (schedule?.disabled ? name : [])));

/** Resumes paused policies. Runs that were due during the pause are not caught up. */
export async function resumePolicies(
  terminal: Terminal,
  words: string[],
  options: GlobalOptions & ReasonOption & Selector,
): Promise<number> {
  const settings = settingsOf(terminal, options);
  const loaded = await policiesOf(settings);
  if (!hasRecords(settings)) selected(words, options, { loaded, settings });
  await withRecords(terminal, options, settings, async (opened) => {
    const { records, clock } = opened;
    const now = clock.now();
    const states = await records.policies.many(words);
    // A policy can still be resumed when its file no longer exists.
    const paused = words.filter((word) => pauseAt(states.get(word), now));
    const kept = await readKept(records, now);
    const names = selected(words, options, { loaded, settings, kept, paused });
    const policies = [...loaded.policies, ...kept];
    const disabled = disabledAmong(policies);
    const deps = { ...opened, ...depsOf(policies) };
    let resumed = 0;
    for (const name of names) {
      const { was } = await carryOutHere(
        resumePolicy,
        deps,
        { policy: name, reason: options.reason },
        terminal,
      );
      if (was) resumed += 1;
      if (was) terminal.message(formatResumed(name, was, disabled.has(name)));
      else if (words.includes(name)) terminal.message(`${name} was not paused.`);
    }
    if (resumed === 0 && !names.some((name) => words.includes(name)))
      terminal.message(formatNoneResumed(names.length));
  });
  return exit.ok;
}

export const formatNoneResumed = (count: number): string =>
  count === 1 ? 'The policy was not paused.' : `None of these ${count} policies was paused.`;

export const formatResumed = (name: string, was: Pause, isDisabled: boolean): string =>
  isDisabled
    ? `${name} is no longer paused; it was ${formatPause(was)}. ${STAYS_DISABLED}`
    : `${name} is resumed; it was ${formatPause(was)}.`;

interface Choice {
  loaded: Loaded;
  settings: Settings;
  /** Policies that a daemon keeps active while their files have errors. */
  kept?: readonly Policy[];
  /** Names of paused policies, which may no longer be in a file. */
  paused?: readonly string[];
}

const readKept = async (records: Records, now: number): Promise<Policy[]> =>
  (await keptByDaemons(records, now)).map(({ policy }) => policy);

export const isPattern = (word: string): boolean => /[*?]/.test(word);

/** `*` matches any characters, `?` one character. */
export const matches = (name: string, word: string): boolean =>
  new RegExp(
    `^${word
      .replace(/[.+^${}()|[\]\\]/g, '\\$&')
      .replaceAll('*', '.*')
      .replaceAll('?', '.')}$`,
  ).test(name);

/**
 * Returns the names of the selected policies, without duplicates. A name must exist; patterns (`nightly-*`)
 * and options select among the existing policies. All words are checked before anything is changed.
 *
 * @throws {UsageError} when no policy is selected.
 * @throws {InvalidFilesError} when there is no such policy and errors in the files may be the cause.
 */
function selected(words: readonly string[], selector: Selector, choice: Choice): string[] {
  const { loaded, settings, kept = [], paused = [] } = choice;
  if (words.length === 0 && !selector.all && !selector.job && !selector.account)
    throw new UsageError(
      'Select policies by name, by a pattern such as "nightly-*", with --job or --account, or with --all.',
    );
  const all = new Map([...kept, ...loaded.policies].map((policy) => [policy.name, policy]));
  const existing = new Set([...all.keys(), ...loaded.broken.map(({ name }) => name), ...paused]);
  for (const word of words)
    if (!isPattern(word) && !existing.has(word)) throw noSuchPolicy(word, settings, loaded);
  const chosen = [...existing].filter((name) => {
    const policy = all.get(name);
    if (words.length > 0 && !words.some((word) => matches(name, word))) return false;
    if (selector.job !== undefined && !(policy && jobsOf(policy).includes(selector.job))) return false;
    return selector.account === undefined || policy?.account === selector.account;
  });
  if (chosen.length === 0) throw new UsageError('No policy matches. Nothing was changed.');
  return chosen;
}
