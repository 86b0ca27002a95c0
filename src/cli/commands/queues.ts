/** Shows the queues, and resumes those that are paused. */
import type { OpenRecords } from '../../app/open-records.ts';
import { besideQueues, type QueueReport, readQueues } from '../../control/commands/list-queues.ts';
import { resumeQueues as resume } from '../../control/commands/resume-queues.ts';
import { carryOutHere } from '../carry-out-here.ts';
import { type GlobalOptions, type ReasonOption, settingsOf, withRecords } from '../context.ts';
import { exit } from '../exit.ts';
import { type OutputOption, show } from '../output/show.ts';
import { type Terminal, table } from '../output/terminal.ts';

/** Shows the numbers of waiting and active entries, which queues are paused, and what needs no entry. */
export async function showQueues(terminal: Terminal, options: GlobalOptions): Promise<number> {
  return withQueues(terminal, options, async (queues, { records, clock }) => {
    await printQueues(await readQueues({ queues, records }, clock.now()), terminal, options);
    return exit.ok;
  });
}

export async function printQueues(
  report: QueueReport,
  terminal: Terminal,
  options: OutputOption,
): Promise<void> {
  const text = () => {
    const cells = report.queues.map(({ queue, waiting, active, paused }) => [
      queue,
      String(waiting),
      String(active),
      paused ? terminal.paint('red', 'paused') : '',
    ]);
    terminal.data(table(['queue', 'waiting', 'active', ''], cells, terminal.paint));
    for (const line of besideQueues(report))
      terminal.data(`${line} See them: caretaker runs --status running`);
    if (report.queues.some(({ paused }) => paused))
      terminal.message('Entries in a paused queue are not processed. Resume it: caretaker queues resume');
  };
  await show(terminal, options, { value: report, rows: report.queues, text });
}

/** Resumes every paused queue. */
export async function resumeQueues(
  terminal: Terminal,
  options: GlobalOptions & ReasonOption,
): Promise<number> {
  return withQueues(terminal, options, async (queues, opened) => {
    const input = { reason: options.reason };
    const { resumed } = await carryOutHere(resume, { ...opened, queues }, input, terminal);
    terminal.message(resumed.length === 0 ? 'No queue was paused.' : `Resumed: ${resumed.join(', ')}.`);
    return exit.ok;
  });
}

async function withQueues(
  terminal: Terminal,
  options: GlobalOptions,
  use: (
    queues: ReturnType<typeof import('../../queue/queues.ts').openQueues>,
    opened: OpenRecords,
  ) => Promise<number>,
): Promise<number> {
  const { openQueues } = await import('../../queue/queues.ts');
  return withRecords(terminal, options, settingsOf(terminal, options), async (opened) => {
    const { redis, log } = opened;
    const queues = openQueues(redis.store, log);
    try {
      return await use(queues, opened);
    } finally {
      await queues.close();
    }
  });
}
