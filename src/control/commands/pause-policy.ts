import { z } from 'zod';
import { isoEnd, isoTime, isoTimeOrNull } from '../../clock.ts';
import { type Pause, pauseAt } from '../../records/policy-store.ts';
import { pauseReport } from '../../schedule/policy-report.ts';
import { type ActSubject, type BaseDeps, defineCommand } from '../command.ts';
import { NotFoundError } from '../errors.ts';
import { endOf, policyName, reason, until } from '../fields.ts';
import type { PolicyDeps } from '../policies.ts';

export interface PauseDeps extends PolicyDeps {
  /** Whether a policy exists that is not active, because its file has errors. */
  isKnown?(name: string): boolean;
}

const PauseAnswer = z.object({
  policy: z.string(),
  paused: z.boolean(),
  since: z.iso.datetime().nullable(),
  by: z.string().nullable(),
  reason: z.string().nullable(),
  until: z.iso.datetime().nullable(),
  replaced: z
    .object({
      at: z.iso.datetime(),
      by: z.string(),
      reason: z.string().nullable(),
      until: z.iso.datetime().nullable(),
    })
    .nullable()
    .describe('The pause that it was in before; null when it was not paused.'),
});

const toAnswer = (
  policy: string,
  pause: Pause | undefined,
  before: Pause | undefined,
): z.output<typeof PauseAnswer> => ({
  policy,
  paused: pause !== undefined,
  since: pause ? isoTime(pause.at) : null,
  by: pause?.by ?? null,
  reason: pause?.reason ?? null,
  until: isoTimeOrNull(pause?.until),
  replaced: before ? pauseReport(before) : null,
});

/** A paused policy exists, even when its file does not. */
async function subjectOf(
  { policy: name }: { policy: string },
  deps: PauseDeps & BaseDeps,
): Promise<ActSubject> {
  const policy = deps.policy(name);
  if (policy) return { policy: name, account: policy.account };
  const isPaused = async () => pauseAt(await deps.records.policies.state(name), deps.clock.now());
  if (deps.isKnown?.(name) || (await isPaused())) return { policy: name };
  throw new NotFoundError(`No active policy has the name "${name}".`);
}

export const pausePolicy = defineCommand<PauseDeps>()({
  name: 'policies.pause',
  summary: 'Pauses the scheduled runs of a policy, until it is resumed or until a time.',
  role: 'operator',
  path: '/policies/{policy}/pause',
  input: z.strictObject({ policy: policyName, until: until.optional(), reason }),
  subject: subjectOf,
  /** Without a new reason, that of an earlier pause stays. */
  async carryOut({ policy, until: end, reason }, { records, clock }, { by }) {
    const at = clock.now();
    const ends = end === undefined ? undefined : endOf(end, at);
    const before = pauseAt(await records.policies.state(policy), at);
    const why = reason || before?.reason;
    const pause: Pause = {
      at,
      by: by.principal.name,
      ...(why === undefined ? {} : { reason: why }),
      ...(ends === undefined ? {} : { until: ends }),
    };
    await records.policies.pause(policy, pause);
    return { policy, pause, before };
  },
  outcome: ({ pause }) => (pause.until === undefined ? {} : { detail: `until ${isoEnd(pause.until)}` }),
  answer: PauseAnswer,
  toAnswer: ({ policy, pause, before }) => toAnswer(policy, pause, before),
});

export const resumePolicy = defineCommand<PauseDeps>()({
  name: 'policies.resume',
  summary: 'Resumes a paused policy. Runs that were due during the pause are not caught up.',
  role: 'operator',
  path: '/policies/{policy}/resume',
  input: z.strictObject({ policy: policyName, reason }),
  subject: subjectOf,
  async carryOut({ policy }, { records, clock }) {
    const now = clock.now();
    const was = pauseAt(await records.policies.state(policy), now);
    await records.policies.resume(policy, now);
    return { policy, was };
  },
  outcome: ({ was }) => (was ? {} : { detail: 'it was not paused' }),
  answer: PauseAnswer,
  toAnswer: ({ policy, was }) => toAnswer(policy, undefined, was),
});
