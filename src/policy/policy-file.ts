/**
 * `config/policies/*.yaml` as an operator writes them: one description for reading, `caretaker schema` and
 * the docs. Names here are those of the file; `to-policy.ts` alone translates them into `Policy`.
 *
 * What needs more than the file itself to be judged (is there such a job? does the operation take this
 * filter?) is in `check-policy.ts`.
 */
import { z } from 'zod';
import { type CandidateList, candidateLists, candidateSources, parentListOf } from '../job/candidates.ts';
import { runWords } from '../settings/notify-words.ts';
import { timezone } from '../yaml/cron.ts';
import { duration } from '../yaml/duration.ts';
import { Approval, Limits, name, Record, Rollout, whole } from './file-sections.ts';
import { isLabelText } from './labels.ts';
import { placeholderName } from './placeholders.ts';
import { priorities } from './policy.ts';
import { Schedule } from './schedule-schema.ts';

const Name = z.strictObject({
  name: z
    .string({ error: 'must be a string' })
    .min(1)
    .describe('The name of a tag, client, ... in place of its id, looked up when a run is planned.'),
});

const FilterValue = z.union([z.string(), z.number(), z.boolean(), Name], {
  error: 'must be a string, a number, true or false, or { name: ... } in place of an id',
});

export const mustBeOperator = 'must be an operator with a value';

const Filters = z.record(
  z.string(),
  z.record(
    z.string(),
    z.union([FilterValue, z.array(FilterValue)], { error: 'must be a value, or a list of values with "in"' }),
    { error: mustBeOperator },
  ),
);

const lists = Object.keys(candidateLists) as [CandidateList, ...CandidateList[]];
/** Those whose items have lists of their own. */
const parentLists = [...new Set(lists.flatMap((list) => parentListOf(list) ?? []))] as [
  CandidateList,
  ...CandidateList[],
];

const ForEachKeys = z.strictObject({
  list: z.enum(parentLists).describe('The list operation whose items each have such a list.'),
  filters: Filters.default({}).describe("That list's own filters, sent to the API. Default none."),
  where: z
    .optional(z.string())
    .describe('A CEL condition over each of its items and `now`. Default all of them.'),
});

/** The name of a list, or a list with its filters and condition; read as the latter. */
const ForEach = z.union(
  [z.enum(parentLists).transform((list) => ({ list, filters: {}, where: undefined })), ForEachKeys],
  { error: `must be ${parentLists.join(' or ')}, or { list, filters, where }` },
);

const Join = z.strictObject({
  list: z
    .enum(lists.filter((list) => parentListOf(list) === undefined) as [CandidateList, ...CandidateList[]])
    .describe('The list operation whose items belong to the candidates.'),
  on: z
    .string()
    .describe(
      'Which items belong to a candidate: their ids compared in CEL, such as `report.site.id == site.id`.',
    ),
  filters: Filters.default({}).describe("That list's own filters, sent to the API. Default none."),
});

const variableName = z
  .string()
  .regex(/^[a-z][a-z0-9_]*$/, 'must consist of lowercase letters, digits and underscores, such as reports');

const Select = z.strictObject({
  from: z
    .optional(z.enum(candidateSources))
    .describe(
      "The list operation the candidates come from, for a job that works on any; account for the account as the one target. Default the job's own.",
    ),
  for_each: z
    .optional(ForEach)
    .describe(
      'For a list that each site has, such as listSiteNotes: the sites whose lists are read, listSites or { list, filters, where }. Costs one request or more for each site. Default none.',
    ),
  join: z
    .optional(z.record(variableName, Join))
    .describe(
      'Other lists by a name of your choice, which `where` and the options of the job may then use: the items that belong to the candidate. Each list is read whole and kept in memory. Default none.',
    ),
  filters: Filters.default({}).describe(
    "The list operation's own filters, sent to the API: { field: { operator: value } }. The id of a tag, client or schedule may be a name: { tags: { in: [{ name: Premium }] } }. Default none.",
  ),
  where: z
    .optional(z.string())
    .describe(
      'A CEL condition over each candidate and `now`; only those it holds for are taken. Default all.',
    ),
  sort: z
    .optional(z.string())
    .describe("Field and direction: last_sync_at,asc. Default the API's own order."),
  timezone: z.optional(timezone).describe('Time zone in which the API reads times in filters. Default UTC.'),
  limit: z
    .optional(whole(1, 100_000))
    .describe(
      'The maximum number of targets that are worked on. Those that need no request are recorded and do not count. Default no limit.',
    ),
  single_views: z
    .optional(whole(0, 100_000))
    .describe(
      'How many items are read one by one, each for a request, because their list does not show what decides, such as site.wp.core.vulnerable. The rest is skipped as unknown. Default 100.',
    ),
});

const Retry = z
  .strictObject({
    attempts: whole(1, 20).default(4).describe('How often one target is tried in all. Default 4.'),
    backoff: z
      .enum(['exponential', 'fixed'])
      .default('exponential')
      .describe('Whether the delay doubles each time or stays. Default exponential.'),
    delay: duration(1000).prefault('30s').describe('Wait before the second attempt. Default 30s.'),
    max_delay: duration(1000).prefault('15m').describe('The longest wait between attempts. Default 15m.'),
  })
  .refine(({ delay, max_delay }) => delay <= max_delay, {
    path: ['max_delay'],
    error: 'must be a duration that is not shorter than "delay"',
  });

const Timeout = z
  .strictObject({
    target: z
      .optional(duration(1000))
      .describe('How long one target may take. Default 2h, or as long as the run.'),
    run: duration(1000).prefault('8h').describe('How long the run may take. Default 8h.'),
  })
  .refine(({ target, run }) => target === undefined || target <= run, {
    path: ['target'],
    error: 'must be a duration that is not longer than "run"',
  });

const Recheck = z.strictObject({
  max_age: duration(1000)
    .prefault('15s')
    .describe(
      'How old they may be, from 1s; older ones are read again, for up to 100 targets at once. Default 15s.',
    ),
});

const deadlineForms = 'must be a time of day such as "06:00", or a duration such as 4h';

/** A time of day, or a duration; read as one of them. */
const Deadline = z.union(
  [
    z
      .string()
      .regex(/^([01]\d|2[0-3]):[0-5]\d$/, deadlineForms)
      .transform((text) => ({ minute: Number(text.slice(0, 2)) * 60 + Number(text.slice(3)) })),
    duration(60_000).transform((afterMs) => ({ afterMs })),
  ],
  { error: deadlineForms },
);

/** The ends of a run that are failures, which `streak` counts. */
const failures: readonly string[] = ['failed', 'partial', 'stopped'];

const party = z.optional(z.string().min(1).max(200));

const Route = z
  .strictObject({
    client: party.describe('Targets of this client, by id or name. Default all.'),
    tag: party.describe('Targets with this tag, by id or name. Default all.'),
    label: party.describe(
      'Only if the policy has this label: `team=shop`, or `team` for any value. For routes under `defaults`. Default all policies.',
    ),
    to: z.string().describe('A name under notifications in config/caretaker.yaml.'),
  })
  .refine(({ client, tag, label }) => client ?? tag ?? label, {
    error: 'needs a client, a tag or a label: which targets it is about',
  })
  .refine(({ label }) => label === undefined || isLabelText(label), {
    path: ['label'],
    error: 'must be a label such as team=shop, or its name alone',
  });

const Notify = z
  .strictObject({
    on: z
      .array(z.enum(runWords))
      .min(1)
      .default(['failed', 'partial', 'stopped', 'blocked', 'paused', 'findings', 'recovered'])
      .describe(
        'Which ends of a run are reported; blocked: the account refuses requests; paused: by pause_after_failures; findings: a run has new findings; recovered: earlier findings are resolved, or a run succeeded after failures that were reported; deadline: a run is predicted to miss its deadline, or has missed it; approval-wanted: a run waits for an approval; approval-expired: nobody decided in time; gate-closed: the gate of a rollout is closed. Default failed, partial, stopped, blocked, paused, findings, recovered.',
      ),
    to: z
      .string()
      .describe(
        'A name under notifications in config/caretaker.yaml. With `route`: who is notified of all other targets, and of what is not about single targets.',
      ),
    route: z
      .optional(z.array(Route).min(1).max(100))
      .describe(
        'Who is notified of which targets, by the client and tags that a target has when the run is planned: the first rule that holds for it decides. Each receiver is notified as if the run had only its targets. Default the receiver of `to`, for every target.',
      ),
    streak: z
      .optional(whole(1, 1000))
      .describe(
        'Failures (failed, partial, stopped) are reported only from this number of runs in a row on. Default 1.',
      ),
  })
  .superRefine(({ on, streak }, context) => {
    if (streak === undefined || on.some((one) => failures.includes(one))) return;
    context.addIssue({
      code: 'custom',
      path: ['streak'],
      message: 'needs failed, partial or stopped under "on"',
      params: { suggestion: 'add one of them, or remove it' },
    });
  });

const combinations = z.array(z.record(z.string(), z.unknown())).min(1);

/** Read before the rest of its policy; the policies that it makes do not have it. */
export const Matrix = z
  .object({
    include: z
      .optional(combinations)
      .describe(
        'Combinations in addition to those of the lists. Each has a value for every key. Default none.',
      ),
    exclude: z
      .optional(combinations)
      .describe('Combinations that make no policy, by some or all of their values. Default none.'),
  })
  .catchall(z.array(z.unknown()).min(1));

const Step = z.strictObject({
  name: z.optional(name).describe("What reports call the step. Default the job's name."),
  job: z.string().describe('The kind of work: the name of a job. `caretaker explain` lists all.'),
  with: z.optional(z.record(z.string(), z.unknown())).describe("The job's own options. Default none."),
});

const Entry = z.strictObject({
  name: name.describe('The name of the policy, once in all files.'),
  description: z.optional(z.string()).describe('One line for people. Default none.'),
  owner: z
    .optional(z.string().min(1).max(100))
    .describe('Who is responsible for it: a person or a team, for people and lists. Default none.'),
  labels: z
    .optional(
      z.record(
        z
          .string()
          .regex(/^[A-Za-z0-9][\w.-]{0,62}$/, 'must have letters, digits, ".", "_" and "-", at most 63'),
        z
          .string()
          .max(63)
          .regex(/^[^\s,](?:[^,]*[^\s,])?$/, 'must be a text without a comma, and not empty'),
      ),
    )
    .describe(
      'Names and values of your own, such as `{ team: shop }`: lists are filtered and policies paused by them. Default none.',
    ),
  matrix: z
    .optional(Matrix)
    .describe(
      `Lists of values by name. Each combination makes one policy, at most 200 in all; \`\${{ matrix.<name> }}\` is its value. Default none: one policy.`,
    ),
  account: z
    .string()
    .default('default')
    .describe('A name under accounts in config/caretaker.yaml. Default default.'),
  job: z
    .optional(z.string())
    .describe(
      'The kind of work: the name of a job. `caretaker explain` lists all. Either this or "steps" is required.',
    ),
  steps: z
    .optional(z.array(Step).min(1).max(10))
    .describe(
      'Several jobs on the same targets instead of one. On each target they work in this order, and each starts when the one before it is done.',
    ),
  priority: z
    .enum(priorities)
    .default('normal')
    .describe(
      'Against other runs of the account: high has three times as much in flight as normal, and normal as low. Default normal.',
    ),
  schedule: z.optional(Schedule).describe('When it fires. Default: only by `caretaker run`.'),
  select: Select.prefault({}).describe('Which candidates become targets. Default all.'),
  with: z.optional(z.record(z.string(), z.unknown())).describe("The job's own options. Default none."),
  limits: Limits.prefault({}).describe('What keeps a run from going too far.'),
  retry: Retry.prefault({}).describe('What happens when a target fails for a reason that may pass.'),
  accept_rejections: z
    .optional(z.array(z.string().trim().min(5)).min(1))
    .describe(
      'Parts of messages, in lower or upper case: a target that the service refuses with one of them is skipped, and does not fail. Each has at least 5 characters. Default none: it fails (`rejected`).',
    ),
  timeout: Timeout.prefault({}).describe('How long things may take.'),
  recheck: Recheck.prefault({}).describe(
    'The facts that a change which cannot be undone (deletions, mails, migrations) rests on: selection, condition, joined items, recipients and parameters. A target that is not as it was planned is skipped (`changed-since-plan`).',
  ),
  deadline: z
    .optional(Deadline)
    .describe(
      'When a scheduled run has to be done: a time of day in the time zone of the schedule ("06:00", the first after the scheduled time), or a duration after the scheduled time. A run that is predicted to miss it, or misses it, is reported once to those who have `deadline` under `notify.on`. Default none.',
    ),
  window: z
    .optional(
      z.strictObject({
        until: Deadline.describe(
          'Its end: a time of day in the time zone of the schedule ("05:00", the first after the scheduled time), or a duration after the scheduled time.',
        ),
      }),
    )
    .describe(
      'The hours in which a scheduled run may begin something. After its end nothing new begins, what is in flight is followed to its end, and the other targets end `window-over`: the next run begins with them. Default: no end.',
    ),
  approval: z
    .optional(Approval)
    .describe('Which of its runs need the approval of a person before they start. Default none.'),
  rollout: z
    .optional(Rollout)
    .describe(
      'The targets are worked on in batches, and each batch begins only when the ones before it did well. Default: all targets together.',
    ),
  notify: z
    .array(Notify)
    .default([])
    .describe('Who is notified of ends of runs, an automatic pause and findings. Default none.'),
  record: z
    .optional(Record)
    .describe('What is written to the sites about the work that was done. Default nothing.'),
});
/** Where several keys have to agree. */
export const PolicyEntry = Entry.superRefine((entry, context) => {
  const { job, steps, schedule, timeout } = entry;
  const refuse = (path: string[], message: string, suggestion?: string) =>
    context.addIssue({ code: 'custom', path, message, params: { suggestion } });
  if (schedule?.spread !== undefined && schedule.spread >= timeout.run)
    refuse(['schedule', 'spread'], 'must be a duration that is shorter than "timeout.run"');
  if (schedule?.spread !== undefined && entry.rollout)
    refuse(['schedule', 'spread'], 'cannot be used together with "rollout"', 'remove one of the two');
  if (entry.approval?.each_batch && !entry.rollout)
    refuse(['approval', 'each_batch'], 'needs "rollout"', 'add batches, or remove it');
  if (job === undefined && steps === undefined)
    context.addIssue({
      code: 'custom',
      path: ['job'],
      message: 'is missing',
      params: { missing: ['job', 'steps'] },
    });
  if (steps === undefined) return;
  if (job !== undefined) refuse(['steps'], 'cannot be used together with "job"', 'remove one of the two');
  if (entry.with !== undefined)
    refuse(['with'], 'cannot be used together with "steps"', 'give each step its own "with"');
}).meta({ oneOf: [{ required: ['job'] }, { required: ['steps'] }] });
export type PolicyEntry = z.output<typeof PolicyEntry>;

const variable = z
  .string()
  .regex(
    placeholderName,
    'must consist of letters, digits, hyphens and underscores, and start with a letter or an underscore, such as region',
  );

/**
 * A file of policies before it is expanded. Its policies are read one by one, so that one with errors leaves
 * the others usable.
 */
export const PolicyFileOutline = z.strictObject({
  vars: z
    .record(
      variable,
      z
        .unknown()
        .refine((value) => value !== null, { error: 'must have a value', params: { form: true } })
        .meta({ not: { type: 'null' } }),
    )
    .default({})
    .describe(`Values by name, to be used in this file as \`\${{ vars.<name> }}\`. Default none.`),
  defaults: z
    .optional(z.record(z.string(), z.unknown()))
    .describe(
      'Keys of a policy that every policy of this file has. Its own keys come first; maps are merged. Default none.',
    ),
  policies: z
    .array(z.unknown())
    .describe('The policies. An empty list, in the only file of the folder, means that there are none.'),
});
