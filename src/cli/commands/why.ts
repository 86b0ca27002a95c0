import { formatNoSpan, spansOf } from '../../schedule/wall-time.ts';
import { type Explanation, explain } from '../../schedule/why.ts';
import { type GlobalOptions, hasRecords, settingsOf, withRecords } from '../context.ts';
import { findActivePolicy } from '../effective-policies.ts';
import { exit, UsageError } from '../exit.ts';
import { clockOf } from '../io.ts';
import { type OutputOption, show } from '../output/show.ts';
import type { Terminal } from '../output/terminal.ts';

/** The maximum number of printed lines. `--json` has all. */
const MAX_LINES = 60;

/** Explains what happened or will happen at the scheduled times of a policy, on a day or at a time. */
export async function why(
  terminal: Terminal,
  name: string,
  when: string,
  options: GlobalOptions,
): Promise<number> {
  const settings = settingsOf(terminal, options);
  const explained = async (opened?: Parameters<typeof explain>[0], now = clockOf(terminal.io).now()) => {
    const policy = await findActivePolicy(name, settings, opened, now);
    const spans = spansOf(when, policy.schedule?.timezone ?? 'UTC', now);
    if (!spans) throw new UsageError(formatNoSpan(when));
    return explain(opened, policy, spans, now);
  };
  // A command that only reads does not start the embedded Redis.
  const explanation = hasRecords(settings)
    ? await withRecords(terminal, options, settings, ({ records, clock }) => explained(records, clock.now()))
    : await explained();
  await showExplanation(explanation, terminal, options);
  return exit.ok;
}

/** Shows why a policy fired or did not: the sentences, and all facts for programs. */
export async function showExplanation(
  { sentences, ...data }: Explanation,
  terminal: Terminal,
  options: OutputOption,
): Promise<void> {
  const text = () => {
    for (const sentence of sentences.slice(0, MAX_LINES)) terminal.data(sentence);
    if (sentences.length > MAX_LINES)
      terminal.message(`and ${sentences.length - MAX_LINES} more (--json lists all)`);
  };
  const value = { ...data, sentence: sentences[0] ?? null };
  await show(terminal, options, { value, rows: data.scheduled_times, text });
}
