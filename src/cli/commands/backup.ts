/** Writes the records into a file, and restores them from it. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { isoMinute } from '../../clock.ts';
import { countOf } from '../../text.ts';
import { localActor } from '../carry-out-here.ts';
import { commandLog, type GlobalOptions, type ReasonOption, settingsOf, withRecords } from '../context.ts';
import { exit, UsageError } from '../exit.ts';
import type { Terminal } from '../output/terminal.ts';

const byUs = ({ reason }: ReasonOption) => {
  const { principal, from } = localActor();
  const who = { kind: principal.kind, name: principal.name };
  return { who, from, ...(reason !== undefined && { why: reason }) };
};

export async function backup(
  terminal: Terminal,
  file: string,
  options: GlobalOptions & ReasonOption,
): Promise<number> {
  const path = resolve(file);
  if (existsSync(path)) throw new UsageError(`${file} exists already: name a new file.`);
  const { takeBackup } = await import('../../app/backup.ts');
  const keys = await withRecords(terminal, options, settingsOf(terminal, options), (opened) =>
    takeBackup(path, opened, byUs(options)),
  );
  terminal.message(`The records were written to ${file}: ${countOf(keys, 'key')}.`);
  return exit.ok;
}

export async function restore(
  terminal: Terminal,
  file: string,
  options: GlobalOptions & ReasonOption & { replace?: boolean },
): Promise<number> {
  const { restoreBackup } = await import('../../app/backup.ts');
  const { takenAt, runs, held } = await restoreBackup(resolve(file), settingsOf(terminal, options), {
    replace: options.replace ?? false,
    by: byUs(options),
    log: await commandLog(terminal, options),
  });
  terminal.message(`The records of ${isoMinute(takenAt)} were restored: ${countOf(runs, 'run')}.`);
  terminal.message(
    'What was done after that is not known. Times that were due since then are skipped ("caretaker backfill" runs them).',
  );
  if (held.length > 0) {
    terminal.message(
      `${countOf(held.length, 'run')} had not ended and ${held.length === 1 ? 'is' : 'are'} held. Look in the account, then decide for each:`,
    );
    for (const run of held) {
      terminal.message(
        `  caretaker runs resume ${run}    # continues it; targets may be changed a second time`,
      );
      terminal.message(`  caretaker runs cancel ${run}     # ends it`);
    }
  }
  return exit.ok;
}
