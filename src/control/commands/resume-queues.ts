import { z } from 'zod';
import type { Queues } from '../../queue/queues.ts';
import { defineCommand } from '../command.ts';
import { reason } from '../fields.ts';

export interface QueueDeps {
  queues: Pick<Queues, 'resume'>;
}

export const resumeQueues = defineCommand<QueueDeps>()({
  name: 'queues.resume',
  summary: 'Resumes every paused queue.',
  role: 'operator',
  path: '/queues/resume',
  input: z.strictObject({ reason }),
  subject: () => ({}),
  carryOut: async (_input, { queues }) => ({ resumed: await queues.resume() }),
  outcome: ({ resumed }) => ({ detail: resumed.length === 0 ? 'none was paused' : resumed.join(', ') }),
  answer: z.object({ resumed: z.array(z.string()) }),
  toAnswer: ({ resumed }) => ({ resumed: [...resumed] }),
});
