import { userInfo } from 'node:os';
import type { Loaded } from '../../policy/load-policies.ts';
import { type Pause, pauseAt } from '../../records/policy-store.ts';
import type { Records } from '../../records/records.ts';
import { parseDuration } from '../../settings/duration.ts';
import {
  type GlobalOptions,
  hasRecords,
  noSuchPolicy,
  policiesOf,
  settingsOf,
  withCaretaker,
} from '../context.ts';
import { exit, UsageError } from '../exit.ts';
import { keptByDaemons } from '../in-force.ts';
import { pauseWords } from '../pause-words.ts';
import { moment } from '../show-run.ts';
import type { Terminal } from '../terminal.ts';

interface PauseOptions extends GlobalOptions {
  reason?: string;
  until?: string;
  for?: string;
}

/** Keeps a policy from firing until it is resumed or the pause ends by itself; survives restarts and edits of its file. */
export async function pausePolicy(terminal: Terminal, name: string, options: PauseOptions): Promise<number> {
  const settings = settingsOf(options);
  const loaded = await policiesOf(settings);
  // Where nothing was ever recorded, only files can know the name.
  if (!hasRecords(settings) && !isInFiles(name, loaded)) throw noSuchPolicy(name, settings, loaded);
  await withCaretaker(options, settings, async ({ records, clock }) => {
    const at = clock.now();
    if (!(await isKnown(name, loaded, records, at))) throw noSuchPolicy(name, settings, loaded);
    const until = endOf(options, at);
    const before = pauseAt(await records.policies.state(name), at);
    if (before && options.reason === undefined && until === undefined) {
      terminal.say(`${name} is paused already: ${pauseWords(before)}. Nothing was changed.`);
      return;
    }
    const reason = options.reason ?? before?.reason;
    const pause: Pause = {
      at,
      by: userInfo().username,
      ...(reason === undefined ? {} : { reason }),
      ...(until === undefined ? {} : { until }),
    };
    await records.policies.pause(name, pause);
    if (before) terminal.say(`This takes the place of an earlier pause: ${pauseWords(before)}.`);
    terminal.say(
      until === undefined
        ? `${name} is paused. "caretaker policies resume ${name}" lets it fire again.`
        : `${name} is paused until ${moment(until)}, and fires again by itself.`,
    );
  });
  return exit.ok;
}

/** Whether there is such a policy: in a file that can be used, or kept in force by a daemon while its file is broken. */
async function isKnown(name: string, loaded: Loaded, records: Records, now: number): Promise<boolean> {
  if (isInFiles(name, loaded)) return true;
  return (await keptByDaemons(records, now)).some((kept) => kept.name === name);
}

const isInFiles = (name: string, { policies, broken }: Loaded): boolean =>
  [...policies, ...broken].some((one) => one.name === name);

/** When a pause is to end: `--until` takes a moment or a duration, `--for` a duration. */
function endOf(options: PauseOptions, now: number): number | undefined {
  if (options.until !== undefined && options.for !== undefined)
    throw new UsageError('Give either --until or --for.');
  if (options.for !== undefined) {
    const ms = parseDuration(options.for);
    if (!ms) throw new UsageError(`--for takes a duration such as 3d or 1h30m; not "${options.for}".`);
    return now + ms;
  }
  if (options.until === undefined) return undefined;
  const ms = parseDuration(options.until);
  const until = ms === undefined ? Date.parse(options.until) : now + ms;
  if (Number.isNaN(until))
    throw new UsageError(
      `--until takes a moment or a duration, such as 2026-12-01, 2026-12-01T08:00Z or 3d; not "${options.until}".`,
    );
  if (until <= now)
    throw new UsageError(`--until takes a moment that is still to come; ${moment(until)} is not.`);
  return until;
}

/** Lets a paused policy fire again; what was due meanwhile is not made up for. */
export async function resumePolicy(
  terminal: Terminal,
  name: string,
  options: GlobalOptions,
): Promise<number> {
  const settings = settingsOf(options);
  const loaded = await policiesOf(settings);
  // Where nothing was ever recorded, only files can know the name.
  if (!hasRecords(settings) && !isInFiles(name, loaded)) throw noSuchPolicy(name, settings, loaded);
  const was = await withCaretaker(options, settings, async ({ records, clock }) => {
    const before = pauseAt(await records.policies.state(name), clock.now());
    // A pause outlives its policy's file, and can still be ended.
    if (!before && !(await isKnown(name, loaded, records, clock.now())))
      throw noSuchPolicy(name, settings, loaded);
    await records.policies.resume(name, clock.now());
    return before;
  });
  terminal.say(was ? `${name} fires again; it was ${pauseWords(was)}.` : `${name} was not paused.`);
  return exit.ok;
}
