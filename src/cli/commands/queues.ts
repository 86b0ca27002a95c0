/** The queues: how many entries wait in each; resumes one that was paused. */
import { type GlobalOptions, settingsOf, withRecords } from '../context.ts';
import { exit } from '../exit.ts';
import { type Terminal, table } from '../output/terminal.ts';

/** Shows how many entries wait and are worked on, and which queues are paused. */
export async function showQueues(terminal: Terminal, options: GlobalOptions): Promise<number> {
  return withQueues(options, async (queues) => {
    const [counts, paused] = await Promise.all([queues.counts(), queues.paused()]);
    const rows = Object.entries(counts).map(([queue, { waiting, active }]) => ({
      queue,
      waiting,
      active,
      paused: paused.includes(queue),
    }));
    if (options.json) terminal.json(rows);
    else {
      const cells = rows.map(({ queue, waiting, active, paused: is }) => [
        queue,
        String(waiting),
        String(active),
        is ? terminal.paint('red', 'paused') : '',
      ]);
      terminal.data(table(['queue', 'waiting', 'active', ''], cells, terminal.paint));
      if (paused.length > 0)
        terminal.message('Nothing in a paused queue is worked on: caretaker queues resume');
    }
    return exit.ok;
  });
}

/** Lets every queue go on that is paused. */
export async function resumeQueues(terminal: Terminal, options: GlobalOptions): Promise<number> {
  return withQueues(options, async (queues) => {
    const resumed = await queues.resume();
    terminal.message(resumed.length === 0 ? 'No queue was paused.' : `Resumed: ${resumed.join(', ')}.`);
    return exit.ok;
  });
}

async function withQueues(
  options: GlobalOptions,
  use: (queues: ReturnType<typeof import('../../queue/queues.ts').openQueues>) => Promise<number>,
): Promise<number> {
  const { openQueues } = await import('../../queue/queues.ts');
  return withRecords(options, settingsOf(options), async ({ redis, log }) => {
    const queues = openQueues(redis.store, log);
    try {
      return await use(queues);
    } finally {
      await queues.close();
    }
  });
}
