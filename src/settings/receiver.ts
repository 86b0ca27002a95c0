/** A receiver of notifications in `config/caretaker.yaml`: its kind of channel, and when it is notified. */
import { z } from 'zod';
import { cron, timezone } from '../yaml/cron.ts';
import { weekdays } from '../yaml/days.ts';
import { duration } from '../yaml/duration.ts';
import { hostOfReceiver, isNear, kinds } from './channels.ts';
import { runWords, severities, systemEvents, systemWords } from './notify-words.ts';

const Repeat = z
  .union([z.literal('never'), duration(60_000)], {
    error: 'must be a duration of at least 1m such as 4h, or never',
  })
  .describe(
    'While runs of a policy fail in the same way, a reminder is sent with the first one after this time: a duration, or never. Default 4h.',
  );

const timeOfDay = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'must be a time of day such as "22:00"');

const QuietHours = z
  .strictObject({
    from: timeOfDay.describe('When they begin.'),
    to: timeOfDay.describe('When they end; on the next day when it is not after `from`.'),
    timezone: timezone.default('UTC').describe('Time zone of the times and days. Default UTC.'),
    days: z
      .exactOptional(z.array(z.enum(weekdays)).min(1))
      .describe('Days on which they begin. Default every day.'),
    except: z
      .array(z.enum([...severities, ...new Set([...runWords, ...systemWords])]))
      .default([])
      .describe(
        'What is not held: severities (info, warning, error), or words as under `on` and `events`. Default none.',
      ),
  })
  .refine(({ from, to }) => from !== to, { path: ['to'], error: 'must not be the same as "from"' });
export type QuietHours = z.output<typeof QuietHours>;

const Digest = z.strictObject({
  cron: cron.describe('When it is sent.'),
  timezone: timezone.default('UTC').describe('Time zone of the expression. Default UTC.'),
});
export type Digest = z.output<typeof Digest>;

const rules = {
  events: z.exactOptional(z.array(z.enum(systemWords)).min(1)).describe(
    `What it is notified of in addition to policies: ${Object.entries(systemEvents)
      .map(([word, meaning]) => `${word}: ${meaning.replace(/[`]/g, '')}`)
      .join('; ')}. Default none.`,
  ),
  repeat_interval: z.exactOptional(Repeat),
  group_wait: z
    .exactOptional(duration())
    .describe(
      'Messages within this time after a first one are sent as one. 0: each is sent alone. Default 30s.',
    ),
  quiet_hours: z
    .exactOptional(QuietHours)
    .describe('Messages in this time are held, and are sent as one when it ends. Default none.'),
  digest: z
    .exactOptional(Digest)
    .describe('All messages are held, and are sent as one at these times. Default: each when it happens.'),
};

const allow_private = z
  .exactOptional(z.boolean())
  .describe(
    'Whether its address may be this machine, or link-local (169.254.0.0/16, fe80::/10). Otherwise it is refused, also when a name leads to it. Mail servers may be anywhere. Default false.',
  );

/** What a receiver has when nothing else is written. */
export const defaultRules = { repeat_interval: 4 * 3_600_000, group_wait: 30_000 } as const;

/** One receiver: the kind of channel, with its settings, and the rules for its messages. */
export const Receiver = z
  .strictObject({ ...kinds, ...rules, allow_private })
  .superRefine((receiver, context) => {
    const written = Object.keys(receiver).filter((key) => key in kinds);
    const refuse = (message: string, path: string[] = [], form = true) =>
      context.addIssue({ code: 'custom', path, message, params: { form } });
    if (written.length !== 1) {
      const list = new Intl.ListFormat('en', { type: 'disjunction' }).format(Object.keys(kinds));
      return refuse(`must have exactly one of ${list}`);
    }
    if (!receiver.allow_private && isNear(hostOfReceiver(receiver) ?? ''))
      refuse(
        `has an address of this machine, or a link-local one. If that is meant, write "allow_private: true" beside "${written[0]}"`,
        [written[0] ?? '', 'url'],
        false,
      );
    for (const rule of Object.keys(rules).filter((key) => key in receiver)) {
      if (receiver.heartbeat)
        refuse('cannot be used with "heartbeat", which gets no messages', [rule], false);
      else if (receiver.pagerduty && rule !== 'repeat_interval' && rule !== 'events')
        refuse('cannot be used with "pagerduty", which groups and schedules by itself', [rule], false);
    }
    for (const rule of ['quiet_hours', 'group_wait'] as const)
      if (receiver.digest && receiver[rule] !== undefined)
        refuse('cannot be used together with "digest", which holds every message', [rule], false);
  })
  .meta({ oneOf: Object.keys(kinds).map((kind) => ({ required: [kind] })) });
export type Receiver = z.output<typeof Receiver>;
