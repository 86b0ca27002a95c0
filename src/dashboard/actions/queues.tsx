/** Pauses and resumes a queue, as the commands do. */
import { pauseQueues, resumeQueues } from '../../control/commands/list-queues.ts';
import { NotFoundError } from '../../control/errors.ts';
import { queueNames } from '../../records/filter-values.ts';
import { change } from '../auth/caller.ts';
import { onQueue } from '../auth/guard.tsx';
import type { Exchange } from '../http/context.ts';
import { redirectBack } from '../http/toast.ts';
import { type Change, showConfirmation } from './confirm.tsx';

function queueIn(c: Exchange) {
  const queue = queueNames.find((name) => name === c.req.param('queue'));
  if (!queue) throw new NotFoundError('There is no such queue.');
  return queue;
}

const PAUSED =
  'Workers of every process take no more entries of it until it is resumed. What they have is completed. The time limits of runs go on.';

export const queueChanges: readonly Change[] = [
  {
    path: '/queues/:queue/pause',
    ...onQueue(pauseQueues),
    ask: (c, context) => {
      const queue = queueIn(c);
      const also =
        queue === 'deliveries' ? ' No notification is sent meanwhile, not even about this pause.' : '';
      return showConfirmation(c, context, {
        title: `Pause the queue ${queue}?`,
        text: `${PAUSED}${also}`,
        button: `Pause ${queue}`,
        back: '/queues',
      });
    },
    act: async (c, context) => {
      const queue = queueIn(c);
      await change(c, context, pauseQueues, { queue });
      return redirectBack(c, context, '/queues', { text: `${queue} is paused.` });
    },
  },
  {
    path: '/queues/:queue/resume',
    ...onQueue(resumeQueues),
    ask: (c, context) => {
      const queue = queueIn(c);
      return showConfirmation(c, context, {
        title: `Resume the queue ${queue}?`,
        text: 'Workers take its entries again.',
        button: `Resume ${queue}`,
        back: '/queues',
      });
    },
    act: async (c, context) => {
      const queue = queueIn(c);
      await change(c, context, resumeQueues, { queue });
      return redirectBack(c, context, '/queues', { text: `${queue} is resumed.` });
    },
  },
];
