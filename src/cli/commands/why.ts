import { spansOf } from '../../schedule/wall-time.ts';
import { explain } from '../../schedule/why.ts';
import { type GlobalOptions, hasRecords, settingsOf, withRecords } from '../context.ts';
import { findActivePolicy } from '../effective-policies.ts';
import { exit, UsageError } from '../exit.ts';
import { show } from '../output/show.ts';
import type { Terminal } from '../output/terminal.ts';
import { dayNote } from '../parse-end-time.ts';

/** The maximum number of printed lines. `--json` has all. */
const MAX_LINES = 60;

/** Explains what happened or will happen at the scheduled times of a policy, on a day or at a time. */
export async function why(
  terminal: Terminal,
  name: string,
  when: string,
  options: GlobalOptions,
): Promise<number> {
  const settings = settingsOf(options);
  const explained = async (opened?: Parameters<typeof explain>[0], now = Date.now()) => {
    const policy = await findActivePolicy(name, settings, opened, now);
    const spans = spansOf(when, policy.schedule?.timezone ?? 'UTC', now);
    if (!spans)
      throw new UsageError(
        `"${when}" is not a day or a time${dayNote(when)}. Use a form such as 2026-11-21, 2026-11-21T02:00, 2026-11-21T01:00Z, 02:00 or yesterday.`,
      );
    return explain(opened, policy, spans, now);
  };
  // A command that only reads does not start the embedded Redis.
  const explanation = hasRecords(settings)
    ? await withRecords(options, settings, ({ records, clock }) => explained(records, clock.now()))
    : await explained();
  const { sentences, ...data } = explanation;
  const text = () => {
    for (const sentence of sentences.slice(0, MAX_LINES)) terminal.data(sentence);
    if (sentences.length > MAX_LINES)
      terminal.message(`and ${sentences.length - MAX_LINES} more (--json lists all)`);
  };
  const value = { ...data, sentence: sentences[0] ?? null };
  await show(terminal, options, { value, rows: data.scheduled_times, text });
  return exit.ok;
}
