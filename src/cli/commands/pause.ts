import { userInfo } from 'node:os';
import { type Pause, pauseAt } from '../../records/policy-store.ts';
import { parseDuration } from '../../settings/duration.ts';
import { type GlobalOptions, policyNamed, settingsOf, withCaretaker } from '../context.ts';
import { exit, UsageError } from '../exit.ts';
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
  await policyNamed(name, settings, terminal);
  await withCaretaker(options, settings, async ({ records, clock }) => {
    const at = clock.now();
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
  await policyNamed(name, settings, terminal);
  const was = await withCaretaker(options, settings, async ({ records, clock }) => {
    const before = pauseAt(await records.policies.state(name), clock.now());
    await records.policies.resume(name, clock.now());
    return before;
  });
  terminal.say(was ? `${name} fires again; it was ${pauseWords(was)}.` : `${name} was not paused.`);
  return exit.ok;
}
