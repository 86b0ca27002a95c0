/** Pauses and resumes a queue, as the commands do. */
import { carryOut } from '../../control/carry-out.ts';
import { pauseQueues, resumeQueues } from '../../control/commands/list-queues.ts';
import { queueNames } from '../../records/filter-values.ts';
import { actorOf } from '../auth/caller.ts';
import type { DashboardContext, Exchange } from '../http/context.ts';
import { redirectBack } from '../http/toast.ts';
import { sendProblem } from '../pages/problem.tsx';
import { showConfirmation } from './confirm.tsx';

const queueIn = (c: Exchange) => queueNames.find((name) => name === c.req.param('queue'));
const NO_QUEUE = 'There is no such queue.';

const texts = {
  pause:
    'Workers of every process take no more entries of it until it is resumed. What they have is completed. The time limits of runs go on.',
  resume: 'Workers take its entries again.',
} as const;

const ask = (kind: 'pause' | 'resume') => async (c: Exchange, context: DashboardContext) => {
  const queue = queueIn(c);
  if (!queue) return sendProblem(c, context, 404, NO_QUEUE);
  const verb = kind === 'pause' ? 'Pause' : 'Resume';
  return showConfirmation(c, context, {
    title: `${verb} the queue ${queue}?`,
    text:
      kind === 'pause' && queue === 'deliveries'
        ? `${texts.pause} No notification is sent meanwhile, not even about this pause.`
        : texts[kind],
    button: `${verb} ${queue}`,
    back: '/queues',
  });
};
export const askToPauseQueue = ask('pause');
export const askToResumeQueue = ask('resume');

const act = (kind: 'pause' | 'resume') => async (c: Exchange, context: DashboardContext) => {
  const queue = queueIn(c);
  if (!queue) return sendProblem(c, context, 404, NO_QUEUE);
  if (kind === 'pause') await carryOut(pauseQueues, context.control, { queue }, actorOf(c));
  else await carryOut(resumeQueues, context.control, { queue }, actorOf(c));
  return redirectBack(c, context, '/queues', { text: `${queue} is ${kind}d.` });
};
export const pauseQueue = act('pause');
export const resumeQueue = act('resume');
