import { z } from 'zod';
import type { Sent } from '../../notify/post.ts';
import type { ReceiverView } from '../../notify/receiver-view.ts';
import { formatTestResult, type TestResult } from '../../notify/send-test.ts';
import { suggestionFor } from '../../suggest.ts';
import { defineCommand } from '../command.ts';
import { InvalidRequestError, NotFoundError } from '../errors.ts';
import { reason } from '../fields.ts';

export interface TestReceiverDeps {
  /** The receivers of notifications in the present settings. */
  receivers(): readonly ReceiverView[];
  /** Sends a test message to one of them, once, with this id. */
  sendTest(receiver: string, id: string): Promise<TestResult>;
}

/** The result of a test message, for programs. */
export const TestReport = z.object({
  receiver: z.string(),
  result: z.enum(['delivered', 'failed', 'rejected']).describe('`delivered`: the receiver has accepted it.'),
  http_status: z.number().nullable().describe('Null without an answer by HTTP.'),
  why: z.string().nullable(),
  ms: z.number(),
});
export type TestReport = z.output<typeof TestReport>;

const toTestReport = (receiver: string, sent: TestResult): TestReport => ({
  receiver,
  result: sent.is,
  http_status: sent.status ?? null,
  why: sent.why ?? null,
  ms: sent.ms,
});

/** The result in the report, as `formatTestResult` takes it. */
export const sentIn = ({ result, http_status: status, why }: TestReport): Sent => ({
  ...(result === 'delivered' ? { is: result, ...(why !== null && { why }) } : { is: result, why: why ?? '' }),
  ...(status !== null && { status }),
});

/** A receiver is of no policy: only grants without limits permit an act on it. */
export const subjectOfReceiver = (receiver: string) => ({ detail: `to ${receiver}` });

export const testReceiver = defineCommand<TestReceiverDeps>()({
  name: 'notifications.test',
  summary:
    'Sends a test message to a receiver of notifications now, once, and shows whether it was accepted.',
  role: 'operator',
  path: '/receivers/{receiver}/test',
  input: z.strictObject({
    receiver: z.string().min(1).max(200).describe('A name under `notifications`.'),
    reason,
  }),
  subject({ receiver }, { receivers }) {
    const known = receivers();
    const names = known.map(({ name }) => name);
    if (!names.includes(receiver)) {
      const hint = suggestionFor(receiver, names);
      throw new NotFoundError(
        `There is no "${receiver}" under notifications in the configuration${hint ? `: ${hint}` : '.'}`,
      );
    }
    return subjectOfReceiver(receiver);
  },
  async carryOut({ receiver }, { receivers, sendTest }, { id, decide }) {
    if (receivers().some(({ name, kind }) => name === receiver && kind === 'heartbeat'))
      throw new InvalidRequestError(`"${receiver}" is a heartbeat, which gets no messages.`);
    // Not sent again for a repetition of the request.
    const sent = await decide('sent', async () => await sendTest(receiver, id));
    return { receiver, sent };
  },
  outcome: ({ receiver, sent }) => ({ detail: formatTestResult(receiver, sent) }),
  answer: TestReport,
  toAnswer: ({ receiver, sent }) => toTestReport(receiver, sent),
});
