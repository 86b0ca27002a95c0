/** The rings of a policy (`update-rings`): what they do and why, and what a person decides about them. */
import { z } from 'zod';
import type { Principal } from '../../access/principal.ts';
import { isoTime } from '../../clock.ts';
import { type Decided, decisionsIn, decisionsKey, Ring, type RingDecisions, Rings } from '../../job/look.ts';
import type { Policy } from '../../policy/policy.ts';
import type { Records } from '../../records/records.ts';
import { type Act, type BaseDeps, defineCommand } from '../command.ts';
import { InvalidRequestError, NotFoundError } from '../errors.ts';
import { policyName, reason } from '../fields.ts';
import { needPolicy, type PolicyDeps } from '../policies.ts';

const Named = z.object({ rings: z.array(z.object({ name: z.string() })) });

/** The names of the rings of a policy; undefined for one without. */
export const ringNames = ({ options }: Pick<Policy, 'options'>): string[] | undefined =>
  Named.safeParse(options).data?.rings.map(({ name }) => name);

const DecidedAnswer = z.object({ by: z.string(), at: z.iso.datetime(), reason: z.string().nullable() });

const RingsAnswer = Rings.extend({
  policy: z.string(),
  account: z.string(),
  run: z.string().describe('The run whose planning saw this.'),
  at: z.iso.datetime().describe('When that was.'),
  rings: z.array(Ring.extend({ held: DecidedAnswer.nullable().describe('Who holds it, by now.') })),
  released: z.array(DecidedAnswer.extend({ item: z.string(), version: z.string() })),
});
export type RingsAnswer = z.output<typeof RingsAnswer>;

interface SeenDeps {
  records: Pick<Records, 'looks' | 'once'>;
}

/** What people decided, and the whole of what the policy's last run saw. */
async function seenRings({ records }: SeenDeps, { name, account }: Pick<Policy, 'name' | 'account'>) {
  const [seen, [decided]] = await Promise.all([
    records.looks.last(account, name),
    records.once.results(account, [decisionsKey(name)]),
  ]);
  // What another release saw in another form is as good as not seen: the next run looks again.
  const view = Rings.safeParse(seen?.view).data;
  return { seen: seen && view && { ...seen, ...view }, decisions: decisionsIn(decided) };
}

const publicForm = ({ by, at, reason: why }: Decided) => ({ by, at: isoTime(at), reason: why ?? null });

/** The rings as the policy's last run saw them, and what people decided by now. Undefined when no run has looked. */
export async function ringsOf(deps: SeenDeps, policy: Policy): Promise<RingsAnswer | undefined> {
  const { seen, decisions } = await seenRings(deps, policy);
  if (!seen) return undefined;
  const { holds, released } = decisions;
  return {
    ...{ policy: policy.name, account: policy.account, run: seen.run, at: isoTime(seen.at) },
    rings: seen.rings.map((ring) => {
      const hold = holds[ring.name];
      return { ...ring, held: hold ? publicForm(hold) : null };
    }),
    suspects: seen.suspects,
    unwell: seen.unwell,
    released: Object.entries(released).map(([item, { version, ...one }]) => ({
      ...{ item, version },
      ...publicForm(one),
    })),
  };
}

/** @throws {NotFoundError} for a policy that is not active or has no rings. */
function needRings(deps: PolicyDeps, name: string): Policy {
  const policy = needPolicy(deps, name);
  if (ringNames(policy)) return policy;
  throw new NotFoundError(`The policy ${name} has no rings: its job is ${policy.job}.`);
}

const subject = ({ policy }: { policy: string }, deps: PolicyDeps) => ({
  policy,
  account: needPolicy(deps, policy).account,
});

export const showRings = defineCommand<PolicyDeps>()({
  name: 'rings.show',
  summary: 'Shows the rings of a policy: what each does and waits for, which versions are proven or suspect.',
  role: 'viewer',
  reads: true,
  path: '/policies/{policy}/rings',
  input: z.strictObject({ policy: policyName }),
  subject,
  async carryOut({ policy: name }, deps) {
    const found = await ringsOf(deps, needRings(deps, name));
    if (found) return found;
    throw new NotFoundError(
      `No run of ${name} has looked at its rings in the last 30 days: "caretaker run ${name}" does.`,
    );
  },
  answer: RingsAnswer,
  toAnswer: (answer) => answer,
});

/** Changes what people decided, whoever changes it at the same time. Returns what `change` says of the rings. */
async function decide<T>(
  deps: PolicyDeps & BaseDeps,
  name: string,
  { by: { principal } }: Act,
  change: (decisions: RingDecisions, rings: readonly string[]) => T,
): Promise<T> {
  const { records, clock } = deps;
  const policy = needRings(deps, name);
  const { account } = policy;
  const rings = ringNames(policy) ?? [];
  const key = decisionsKey(name);
  for (;;) {
    const [before] = await records.once.results(account, [key]);
    const decisions = decisionsIn(before);
    const said = change(decisions, rings);
    const after = JSON.stringify(decisions);
    if (before !== undefined) {
      if (before === after || (await records.once.replace(account, key, before, after))) return said;
    } else if ((await claim(records, { account, key, after, principal, now: clock.now() })) === after)
      return said;
  }
}

const claim = async (
  records: Records,
  {
    account,
    key,
    after,
    principal,
    now,
  }: Record<'account' | 'key' | 'after', string> & {
    principal: Principal;
    now: number;
  },
) =>
  (await records.once.claim(account, key, { run: 'person', target: principal.name }, now, undefined, after))
    .result;

/** The rings that a request means: the named one, or all. */
function ringsMeant(ring: string | undefined, all: readonly string[]): readonly string[] {
  if (ring === undefined) return all;
  if (all.includes(ring)) return [ring];
  throw new InvalidRequestError(`The policy has no ring "${ring}"; it has ${all.join(', ')}.`);
}

const ring = z.string().min(1).optional().describe('Only this ring. Default: all.');
const RingsChanged = z.object({
  policy: z.string(),
  rings: z.array(z.string()).describe('The rings that were changed.'),
});
const changed = (rings: readonly string[]) => ({ rings: [...rings] });
const named = ({ rings }: { rings: readonly string[] }) => ({
  detail: rings.join(', ') || 'nothing changed',
});

export const holdRings = defineCommand<PolicyDeps>()({
  name: 'rings.hold',
  summary:
    'Holds rings of a policy: with its next run their schedules are paused and what has not started is cancelled.',
  role: 'operator',
  path: '/policies/{policy}/rings/hold',
  input: z.strictObject({ policy: policyName, ring, reason }),
  subject,
  carryOut: async ({ policy, ring: one, reason: why }, deps, act) => ({
    policy,
    ...(await decide(deps, policy, act, ({ holds }, all) => {
      const meant = ringsMeant(one, all);
      for (const name of meant)
        holds[name] = { by: act.by.principal.name, at: act.at, ...(why && { reason: why }) };
      return changed(meant);
    })),
  }),
  outcome: named,
  answer: RingsChanged,
  toAnswer: (result) => result,
});

export const unholdRings = defineCommand<PolicyDeps>()({
  name: 'rings.unhold',
  summary: 'Ends the hold of rings of a policy: with its next run they go on as the evidence allows.',
  role: 'operator',
  path: '/policies/{policy}/rings/unhold',
  input: z.strictObject({ policy: policyName, ring, reason }),
  subject,
  carryOut: async ({ policy, ring: one }, deps, act) => ({
    policy,
    ...(await decide(deps, policy, act, ({ holds }, all) => {
      // A ring that the policy no longer has may still be held.
      const known = [...new Set([...all, ...Object.keys(holds)])];
      const held = ringsMeant(one, known).filter((name) => holds[name]);
      for (const name of held) delete holds[name];
      return changed(held);
    })),
  }),
  outcome: named,
  answer: RingsChanged,
  toAnswer: (result) => result,
});

export const releaseVersion = defineCommand<PolicyDeps>()({
  name: 'rings.release',
  summary: 'Lets a version pass that is suspect or held: it counts as proven where it was taken.',
  role: 'approver',
  path: '/policies/{policy}/rings/release',
  input: z.strictObject({
    policy: policyName,
    item: z
      .string()
      .regex(/^(core|(plugin|theme) \S.*)$/, 'must be core, plugin <filename> or theme <filename>')
      .max(300)
      .describe('`core`, `plugin shop/shop.php` or `theme storefront`, as the rings show it.'),
    version: z.string().trim().min(1).max(100),
    reason,
  }),
  subject,
  async carryOut({ policy: name, item, version, reason: why }, deps, act) {
    const { seen } = await seenRings(deps, needRings(deps, name));
    const all = [...(seen?.rings.flatMap(({ versions }) => versions) ?? []), ...(seen?.suspects ?? [])];
    const known = all.filter((one) => one.item === item);
    if (!known.some((one) => one.version === version))
      throw new InvalidRequestError(
        known.length === 0
          ? `No ring of ${name} has taken ${item}. "caretaker policies rings ${name}" shows what they took.`
          : `The last version of ${item} is ${known[0]?.version}, not ${version}. Nothing was released.`,
      );
    await decide(deps, name, act, ({ released }) => {
      released[item] = { version, by: act.by.principal.name, at: act.at, ...(why && { reason: why }) };
    });
    return { policy: name, item, version };
  },
  outcome: ({ item, version }) => ({ detail: `${item} ${version}` }),
  answer: z.object({ policy: z.string(), item: z.string(), version: z.string() }),
  toAnswer: (result) => result,
});
