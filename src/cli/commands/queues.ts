/** Shows the queues, and resumes those that are paused. */
import {
  besideQueues,
  listQueues,
  type QueueReport,
  resumeQueues as resume,
} from '../../control/commands/list-queues.ts';
import { withClient, withReader } from '../client.ts';
import type { GlobalOptions, ReasonOption } from '../context.ts';
import { exit } from '../exit.ts';
import { type List, showList } from '../output/list.ts';
import type { Terminal } from '../output/terminal.ts';

const nobody = { targets: 0, runs: 0 };
const none = { queues: [], followed: nobody, due_later: nobody };

/** Shows the numbers of waiting and active entries, which queues are paused, and what needs no entry. */
export const showQueues = (terminal: Terminal, options: GlobalOptions): Promise<number> =>
  withReader('caretaker', terminal, options, async ({ read }) => {
    const report = await read(listQueues, {}, none);
    const { queues } = report;
    return showList(terminal, options, list, {
      rows: queues,
      value: report,
      below() {
        for (const line of besideQueues(report))
          terminal.data(`${line} See them: caretaker runs --status running`);
        if (queues.some(({ paused }) => paused))
          terminal.message('Entries in a paused queue are not processed. Resume it: caretaker queues resume');
      },
    });
  });

const list: List<QueueReport['queues'][number]> = {
  table: {
    queue: ({ queue }) => queue,
    waiting: ({ waiting }) => waiting,
    active: ({ active }) => active,
    '': ({ paused }, { paint }) => (paused ? paint('red', 'paused') : ''),
  },
};

/** Resumes every paused queue. */
export const resumeQueues = (terminal: Terminal, options: GlobalOptions & ReasonOption): Promise<number> =>
  withClient('caretaker', terminal, options, async ({ act }) => {
    const { resumed } = await act(resume, { reason: options.reason });
    terminal.message(resumed.length === 0 ? 'No queue was paused.' : `Resumed: ${resumed.join(', ')}.`);
    return exit.ok;
  });
