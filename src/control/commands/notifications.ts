import { z } from 'zod';
import { isPermitted } from '../../access/principal.ts';
import { isoTime, isoTimeOrNull } from '../../clock.ts';
import type { Delivery } from '../../records/delivery-store.ts';
import { deliveryStates } from '../../records/filter-values.ts';
import { NextPage } from '../answers.ts';
import { defineCommand } from '../command.ts';
import { NotFoundError } from '../errors.ts';
import { limit, pastTime, reason, someOf, someText } from '../fields.ts';

const time = z.string();

/** A delivery, for people and programs. */
export const DeliveryReport = z.object({
  id: z.string(),
  to: z.string(),
  event: z.string(),
  at: time,
  state: z.enum(deliveryStates),
  policy: z.string().nullable(),
  account: z.string().nullable(),
  run: z.string().nullable(),
  text: z.string(),
  attempts: z.array(
    z.object({
      at: time,
      result: z.enum(['delivered', 'failed', 'rejected']).nullable(),
      ms: z.number().nullable(),
      why: z.string().nullable(),
    }),
  ),
  next_attempt_at: time.nullable(),
});
export type DeliveryReport = z.output<typeof DeliveryReport>;

export const toDeliveryReport = (delivery: Delivery): DeliveryReport => ({
  id: delivery.id,
  to: delivery.to,
  event: delivery.event,
  at: isoTime(delivery.at),
  state: delivery.state,
  policy: delivery.policy ?? null,
  account: delivery.account ?? null,
  run: delivery.run ?? null,
  text: delivery.message.text,
  attempts: delivery.attempts.map(({ at, is, ms, why }) => ({
    at: isoTime(at),
    result: is ?? null,
    ms: ms ?? null,
    why: why ?? null,
  })),
  next_attempt_at: isoTimeOrNull(delivery.due),
});

export const listDeliveries = defineCommand()({
  name: 'notifications.list',
  summary: 'Lists notifications, newest first: to whom, whether they arrived, and each attempt.',
  role: 'viewer',
  reads: true,
  path: '/notifications',
  input: z.strictObject({
    state: someOf(z.enum(deliveryStates)).describe('`dead`: given up.'),
    to: someText.describe('A name under `notifications`.'),
    policy: someText.describe('The policy that it is about.'),
    since: pastTime.describe('Made at or after this time: 2026-11-01, 2026-11-01T02:00:00Z, or 7d ago.'),
    until: pastTime.describe('Made before this time, written as `since`.'),
    after: z
      .string()
      .regex(/^\d+ [\w-]+$/)
      .optional()
      .describe('The `next` of the previous page.'),
    limit,
  }),
  // For every viewer of something; the answer has the deliveries that the grants of the caller cover.
  subject: () => undefined,
  carryOut: ({ since, until, ...query }, { records, clock }, { by }) =>
    records.deliveries.page({
      ...query,
      since: since?.(clock.now()),
      until: until?.(clock.now()),
      permits: ({ policy, account }) => isPermitted(by.principal, 'viewer', { policy, account }),
    }),
  answer: z.object({ deliveries: z.array(DeliveryReport), ...NextPage }),
  toAnswer: ({ deliveries, next }) => ({
    deliveries: deliveries.map(toDeliveryReport),
    next: next ?? null,
  }),
});

/** What sending a delivery again concerns. */
export const subjectOfDelivery = ({ id, policy, account, run, to, event }: Delivery) => ({
  policy,
  account,
  ...(run && { run }),
  detail: `${id}: ${event} to ${to}`,
});

export const resendDelivery = defineCommand()({
  name: 'notifications.resend',
  summary: 'Sends a notification again, with the same id, and with all attempts before it.',
  role: 'operator',
  path: '/notifications/{delivery}/resend',
  input: z.strictObject({ delivery: z.string().min(1).describe('The id of a delivery.'), reason }),
  async subject({ delivery: id }, { records }) {
    const delivery = await records.deliveries.get(id);
    if (!delivery)
      throw new NotFoundError(
        `There is no notification "${id}". "caretaker notify list" shows the notifications of the last 30 days.`,
      );
    return subjectOfDelivery(delivery);
  },
  async carryOut({ delivery }, { records }, { at }) {
    await records.deliveries.sendAgain(delivery, at);
    return { delivery };
  },
  answer: z.object({ delivery: z.string() }),
  toAnswer: ({ delivery }) => ({ delivery }),
});
