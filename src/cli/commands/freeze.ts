/** The global freeze: no policy starts a run until the freeze ends. */

import { userInfo } from 'node:os';
import { isoMinute } from '../../clock.ts';
import { formatFreeze } from '../../records/freeze-store.ts';
import { type GlobalOptions, settingsOf, withRecords } from '../context.ts';
import { exit, UsageError } from '../exit.ts';
import type { Terminal } from '../output/terminal.ts';
import { endOf, type UntilOptions } from '../parse-end-time.ts';

interface FreezeOptions extends GlobalOptions, UntilOptions {
  reason?: string;
}

/** Prevents every policy from starting a run. Active runs continue. */
export async function freeze(terminal: Terminal, options: FreezeOptions): Promise<number> {
  return withRecords(options, settingsOf(options), async ({ records, clock }) => {
    const at = clock.now();
    const until = endOf(options, at);
    const before = await records.freeze.at(at);
    if (until === undefined)
      throw new UsageError(
        'A freeze needs an end: --until 2026-12-01T08:00Z or --for 3d. To stop policies without an end, pause them.',
      );
    const reason = options.reason ?? before?.reason;
    const by = userInfo().username;
    await records.freeze.begin({ at, by, until, ...(reason === undefined ? {} : { reason }) });
    if (before) terminal.message(`This replaces an earlier freeze: everything was ${formatFreeze(before)}.`);
    terminal.message(
      `Everything is frozen until ${isoMinute(until)}: no policy starts a run until then. Active runs continue; "caretaker runs cancel" cancels one. "caretaker unfreeze" ends the freeze early.`,
    );
    return exit.ok;
  });
}

/** Ends a freeze early. Scheduled times that it skipped stay skipped. */
export async function unfreeze(terminal: Terminal, options: GlobalOptions): Promise<number> {
  return withRecords(options, settingsOf(options), async ({ records, clock }) => {
    const now = clock.now();
    const before = await records.freeze.at(now);
    if (before) await records.freeze.end(now);
    terminal.message(
      before
        ? `The freeze has ended, and policies run again. Everything was ${formatFreeze(before)}.`
        : 'There is no freeze.',
    );
    return exit.ok;
  });
}
