/**
 * The file of a saved plan: what a policy would do, so that exactly that can be done later.
 *
 * Its hash covers everything in it. That shows a file that was cut or edited; it is no signature, because anyone
 * who edits a file can also compute its hash.
 */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { CaretakerError } from '../../errors.ts';
import { Policy } from '../../policy/policy.ts';
import { reason } from '../../run/run.ts';
import { sayIssue, writePath } from '../../schema-issue.ts';
import { canonicalJson } from '../../text.ts';
import { parseDuration } from '../../yaml/duration.ts';

/** The form of the file. A file of another form is refused. */
export const FORMAT = 1;

const text = z.string();
const time = z.iso.datetime();
const { exactOptional: optional } = z;

const Target = z.strictObject({
  id: text,
  label: text.describe('The name by which people know it, such as its address.'),
  plan: optional(text).describe('What the job says that it does.'),
  requests: z
    .array(
      z.strictObject({
        operation: text.describe('The operation, by its name in the service.'),
        params: z.record(text, z.unknown()).describe('Its parameters, those of the path included.'),
        body: optional(z.unknown()).describe('Its body.'),
      }),
    )
    .describe('The changes that are requested, in their order. Nothing else is.'),
  preconditions: z
    .record(text, z.unknown())
    .describe(
      'The fields that the decision rests on, and their values. They are read again before anything is sent.',
    ),
  state: optional(text).describe('What the plan leaves for the job, as JSON in a text.'),
  cost: z.number().describe('The requests that the target usually costs, without following.'),
});

export const SavedPlan = z.strictObject({
  format: z.literal(FORMAT).describe('The form of this file.'),
  caretaker: text.describe('The version that made it.'),
  planned_at: time,
  planned_at_service: time.describe("The same time by the service's clock."),
  expires_at: time.describe('After this time it is not applied.'),
  account: z.strictObject({ name: text, base_url: text }),
  policy: z.strictObject({
    name: text,
    job: text,
    file: text,
    definition: z.unknown().describe('The policy as it was, with every default.'),
  }),
  names: z
    .array(z.strictObject({ path: z.array(z.union([text, z.number()])), kind: text, name: text, id: text }))
    .describe('The ids that names in the policy stand for.'),
  targets: z.array(Target),
  settled: z
    .array(z.strictObject({ id: text, label: text, outcome: text, reason, why: text }))
    .describe('Targets that have their outcome without a request. They are not part of what is applied.'),
  excluded: z
    .array(z.strictObject({ why: text, count: z.int() }))
    .describe('Why other candidates are not targets, and how many.'),
  recording: z
    .nullable(z.strictObject({ sites: z.int(), custom_work: z.nullable(text), note: z.nullable(text) }))
    .describe('What `record` writes to the sites afterwards. Its texts depend on what was done.'),
  warnings: z.array(text),
  cost: z.strictObject({ acting: z.int(), following: z.int() }).describe('Estimated requests.'),
  totals: z.strictObject({ targets: z.int(), requests: z.int(), settled: z.int(), excluded: z.int() }),
  hash: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .describe('SHA-256 of all of the above.'),
});
export type SavedPlan = z.output<typeof SavedPlan>;

/** The file cannot be applied: it is no saved plan, was changed, has expired, or is for another account. */
export class SavedPlanError extends CaretakerError {
  readonly code = 'SAVED_PLAN';
}

/** How long a plan can be applied unless a person says otherwise. */
export const EXPIRES = '7d';
const MAX_EXPIRES_MS = 30 * 86_400_000;

/** How long a plan can be applied, in milliseconds; undefined for what is no duration from one second to 30 days. */
export function expiryOf(text: string): number | undefined {
  const ms = parseDuration(text);
  return ms !== undefined && ms > 0 && ms <= MAX_EXPIRES_MS ? ms : undefined;
}

/** The hash of everything in a plan except the hash itself. */
export const hashOfPlan = ({ hash: _itself, ...plan }: Record<string, unknown>): string =>
  createHash('sha256').update(canonicalJson(plan)).digest('hex');

/**
 * Reads the text of a file.
 *
 * @throws {SavedPlanError} when it is no saved plan, or was changed after it was made.
 */
export function parseSavedPlan(content: string, file: string): SavedPlan {
  let value: unknown;
  try {
    value = JSON.parse(content);
  } catch (error) {
    throw new SavedPlanError(`${file} is not a saved plan: it is not JSON, or not all of it.`, {
      cause: error,
    });
  }
  return checkSavedPlan(value, file);
}

/** The same for a value that was parsed. */
export function checkSavedPlan(value: unknown, file: string): SavedPlan {
  if (typeof value !== 'object' || value === null || !('format' in value) || !('hash' in value))
    throw new SavedPlanError(`${file} is not a saved plan. "caretaker plan <policy> --out FILE" makes one.`);
  const { format, hash } = value;
  if (format !== FORMAT)
    throw new SavedPlanError(
      `${file} has the format ${JSON.stringify(format)}, but this version applies format ${FORMAT}. Plan again.`,
    );
  if (hashOfPlan({ ...value }) !== hash)
    throw new SavedPlanError(`${file} was changed after it was planned, or is incomplete. Plan again.`);
  const parsed = SavedPlan.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const why = issue ? `"${writePath(issue.path)}" ${sayIssue(issue, value)}` : 'it has another form';
  throw new SavedPlanError(`${file} is not a saved plan: ${why}.`, { cause: parsed.error });
}

/**
 * The policy that a plan was made with. It is the one that the plan names: a user who may apply plans of one
 * policy cannot send the definition of another under its name.
 *
 * @throws {SavedPlanError} when this version does not know its form, or when it is not the one that is named.
 */
export function policyIn({ policy, account }: SavedPlan, file: string): Policy {
  const parsed = Policy.safeParse(policy.definition);
  if (!parsed.success)
    throw new SavedPlanError(
      `${file} has a policy in a form that this version does not know: it was made by another version. Plan again.`,
      { cause: parsed.error },
    );
  const { name, job, account: ofPolicy } = parsed.data;
  if (name !== policy.name || job !== policy.job || ofPolicy !== account.name)
    throw new SavedPlanError(
      `${file} contradicts itself: it names the policy ${policy.name} (${policy.job}) of the account ${account.name}, but defines ${name} (${job}) of ${ofPolicy}. Plan again.`,
    );
  return parsed.data;
}

/** Whether the plan was made with exactly this policy. */
export const isMadeWith = (plan: SavedPlan, policy: Policy): boolean =>
  canonicalJson(policyIn(plan, 'The plan')) ===
  canonicalJson(Policy.parse(JSON.parse(JSON.stringify(policy))));

/** The JSON Schema of the file. */
export const savedPlanJsonSchema = (): object => ({
  title: 'A saved plan of Caretaker',
  ...z.toJSONSchema(SavedPlan, { io: 'input', unrepresentable: 'any' }),
});
