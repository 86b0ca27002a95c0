import { explainPolicy } from '../../control/commands/list-policies.ts';
import type { Policy } from '../../policy/policy.ts';
import { formatNoSpan, spansOf } from '../../schedule/wall-time.ts';
import { explain } from '../../schedule/why.ts';
import { isOnServer, withReader } from '../client.ts';
import { type GlobalOptions, settingsOf } from '../context.ts';
import { findActivePolicy } from '../effective-policies.ts';
import { exit, UsageError } from '../exit.ts';
import { show } from '../output/show.ts';
import type { Terminal } from '../output/terminal.ts';
import { policyOnServer } from '../read-policies.ts';

/** The maximum number of printed lines. `--json` has all. */
const MAX_LINES = 60;

/** Explains what happened or will happen at the scheduled times of a policy, on a day or at a time. */
export const why = (
  terminal: Terminal,
  name: string,
  when: string,
  options: GlobalOptions,
): Promise<number> =>
  withReader('policies', terminal, options, async (client) => {
    const now = client.clock.now();
    const own = isOnServer(terminal, options)
      ? undefined
      : await findActivePolicy(name, settingsOf(terminal, options), client.here?.records, now);
    const zone = own ? own.schedule?.timezone : (await policyOnServer(client, name)).timezone;
    const spans = spansOf(when, zone ?? 'UTC', now);
    if (!spans) throw new UsageError(formatNoSpan(when));
    const found = await client.read(explainPolicy, { policy: name, when }, () =>
      explain(undefined, own as Policy, spans, now),
    );
    const { sentences, ...data } = found;
    const text = () => {
      for (const sentence of sentences.slice(0, MAX_LINES)) terminal.data(sentence);
      if (sentences.length > MAX_LINES)
        terminal.message(`and ${sentences.length - MAX_LINES} more (--json lists all)`);
    };
    const value = { ...data, sentence: sentences[0] ?? null };
    await show(terminal, options, { value, rows: data.scheduled_times, text });
    return exit.ok;
  });
