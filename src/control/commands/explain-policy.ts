import { z } from 'zod';
import { formatNoSpan, spansOf } from '../../schedule/wall-time.ts';
import { type Explanation, explain } from '../../schedule/why.ts';
import { defineCommand } from '../command.ts';
import { InvalidRequestError } from '../errors.ts';
import { policyName } from '../fields.ts';
import { needPolicy, type PolicyDeps } from '../policies.ts';

export const explainPolicy = defineCommand<PolicyDeps>()({
  name: 'policies.why',
  summary: 'Explains what happened or will happen at the scheduled times of a policy, on a day or at a time.',
  role: 'viewer',
  reads: true,
  path: '/policies/{policy}/why',
  input: z.strictObject({
    policy: policyName,
    when: z
      .string()
      .min(1)
      .describe("A day or a time in the policy's time zone: 2026-11-21, 2026-11-21T02:00, yesterday."),
  }),
  subject: ({ policy }, deps) => ({ policy, account: needPolicy(deps, policy).account }),
  carryOut({ policy: name, when }, deps): Promise<Explanation> {
    const policy = needPolicy(deps, name);
    const now = deps.clock.now();
    const spans = spansOf(when, policy.schedule?.timezone ?? 'UTC', now);
    if (!spans) throw new InvalidRequestError(formatNoSpan(when));
    return explain(deps.records, policy, spans, now);
  },
  answer: z.looseObject({
    policy: z.string(),
    timezone: z.string().nullable(),
    scheduled_times: z.array(z.looseObject({ scheduled_for: z.iso.datetime(), is: z.string() })),
    around: z.array(z.looseObject({})).describe('When nothing is scheduled: the times before and after.'),
    sentences: z.array(z.string()).describe('The same in words.'),
  }),
  toAnswer: (explanation) => explanation,
});
