/** Shows the queues, pauses and resumes them. */
import { isoMinute } from '../../clock.ts';
import {
  besideQueues,
  listQueues,
  pauseQueues as pause,
  type QueueReport,
  resumeQueues as resume,
} from '../../control/commands/list-queues.ts';
import { defined } from '../../defined.ts';
import type { queueNames } from '../../records/filter-values.ts';
import { withClient, withReader } from '../client.ts';
import type { GlobalOptions, ReasonOption } from '../context.ts';
import { exit } from '../exit.ts';
import { type List, showList } from '../output/list.ts';
import type { Terminal } from '../output/terminal.ts';

const nobody = { targets: 0, runs: 0 };
const none = { queues: [], processes: [], followed: nobody, due_later: nobody };

/** Shows what each queue has and does, which are paused, what failed last, and what needs no entry. */
export const showQueues = (terminal: Terminal, options: GlobalOptions): Promise<number> =>
  withReader('caretaker', terminal, options, async ({ read }) => {
    const report = await read(listQueues, {}, none);
    const { queues, processes } = report;
    return showList(terminal, options, list, {
      rows: queues,
      value: report,
      below() {
        for (const { host, pid, entries } of processes)
          terminal.data(
            `Worker: process ${pid} on ${host}, with ${entries} ${entries === 1 ? 'entry' : 'entries'}`,
          );
        for (const line of besideQueues(report))
          terminal.data(`${line} See them: caretaker runs --status running`);
        for (const { queue, failed_entries: failed } of queues)
          for (const { name, at, reason } of failed.slice(0, MAX_FAILED))
            terminal.data(`Failed in ${queue} at ${isoMinute(Date.parse(at))}: ${name}: ${reason}`);
        if (queues.some(({ paused }) => paused))
          terminal.message('Entries in a paused queue are not processed. Resume it: caretaker queues resume');
      },
    });
  });

const MAX_FAILED = 3;

const list: List<QueueReport['queues'][number]> = {
  table: {
    queue: ({ queue }) => queue,
    waiting: ({ waiting }) => waiting,
    delayed: ({ delayed }) => delayed,
    active: ({ active }) => active,
    'oldest since': ({ oldest_waiting_since: at }) => (at === null ? '' : isoMinute(Date.parse(at))),
    'done in 1h': ({ last_hour: { completed } }) => completed,
    'failed in 1h': ({ last_hour: { failed } }, { paint }) => (failed > 0 ? paint('red', String(failed)) : 0),
    'wait, 95%': ({ wait: { p95 } }) => (p95 === null ? '' : `${p95.toFixed(1)} s`),
    '': ({ paused }, { paint }) => (paused ? paint('red', 'paused') : ''),
  },
};

type Options = GlobalOptions & ReasonOption;
type QueueName = (typeof queueNames)[number];

/** Pauses a queue, or all: workers take no more entries. */
export const pauseQueues = (
  terminal: Terminal,
  queue: QueueName | undefined,
  { reason, ...options }: Options,
): Promise<number> =>
  withClient('caretaker', terminal, options, async ({ act }) => {
    const { paused } = await act(pause, defined({ queue, reason }));
    terminal.message(
      paused.length === 0
        ? 'Nothing was changed: it was paused already.'
        : `Paused: ${paused.join(', ')}. Workers take no more entries; what they have is completed. "caretaker queues resume" resumes.`,
    );
    return exit.ok;
  });

/** Resumes a paused queue, or all. */
export const resumeQueues = (
  terminal: Terminal,
  queue: QueueName | undefined,
  { reason, ...options }: Options,
): Promise<number> =>
  withClient('caretaker', terminal, options, async ({ act }) => {
    const { resumed } = await act(resume, defined({ queue, reason }));
    terminal.message(resumed.length === 0 ? 'No queue was paused.' : `Resumed: ${resumed.join(', ')}.`);
    return exit.ok;
  });
