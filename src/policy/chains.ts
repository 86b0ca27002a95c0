/** Policies that start when a run of another policy has ended (`schedule.after`): who follows whom. */

import type { After } from './policy.ts';

/** A policy as far as chains are concerned. */
export interface Link {
  name: string;
  /** The policy that it follows. */
  after?: string | undefined;
}

/** The link of a policy. */
export const linkOf = ({
  name,
  schedule,
}: {
  name: string;
  schedule?: { after?: { policy: string } };
}): Link => ({ name, after: schedule?.after?.policy });

/** Why a policy that follows another cannot be scheduled. */
export type ChainFault =
  | { is: 'missing'; policy: string }
  /** In the order in which they would start each other; the first is also the last. */
  | { is: 'loop'; names: string[] };

/** What is wrong with the chain of one policy; nothing when it follows no other policy. */
export function chainFault({ name, after }: Link, links: ReadonlyMap<string, Link>): ChainFault | undefined {
  if (after === undefined) return undefined;
  if (!links.has(after)) return { is: 'missing', policy: after };
  const before = [name];
  let at: string | undefined = after;
  while (at !== undefined && at !== name) {
    // A loop further up is the fault of others.
    if (before.includes(at)) return undefined;
    before.push(at);
    at = links.get(at)?.after;
  }
  return at === undefined ? undefined : { is: 'loop', names: [...before, name].reverse() };
}

/** Links by the names of their policies. */
export const linksByName = (links: readonly Link[]): ReadonlyMap<string, Link> =>
  new Map(links.map((link) => [link.name, link]));

/** One sentence, for findings and the log. */
export const formatChainFault = (name: string, fault: ChainFault): string =>
  fault.is === 'missing'
    ? `There is no policy "${fault.policy}", so ${name} is not scheduled.`
    : `These policies start each other in a loop: ${fault.names.join(' -> ')}.`;

/** `after nightly-sync`; with the ends that count, where they are not the usual ones. */
export const formatAfter = ({
  policy,
  status,
}: Pick<After, 'policy'> & { status: readonly string[] }): string =>
  status.length === 1 && status[0] === 'succeeded' ? `after ${policy}` : `after ${policy} (${oneOf(status)})`;

/** `succeeded, partial or failed`. */
export const oneOf = (words: readonly string[]): string =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;

/** A policy with those that follow it, in the order of the list. */
export interface ChainNode<P> {
  policy: P;
  followers: ChainNode<P>[];
}

/** The chains of these policies as trees: the roots follow no policy of the list. */
export function chainsOf<P extends Parameters<typeof linkOf>[0]>(policies: readonly P[]): ChainNode<P>[] {
  const links = linksByName(policies.map(linkOf));
  const roots: P[] = [];
  const followers = new Map<string, P[]>();
  for (const policy of policies) {
    const link = linkOf(policy);
    const isUsable = chainFault(link, links) === undefined;
    if (link.after === undefined || !isUsable) roots.push(policy);
    else followers.set(link.after, [...(followers.get(link.after) ?? []), policy]);
  }
  const nodeOf = (policy: P): ChainNode<P> => ({
    policy,
    followers: (followers.get(policy.name) ?? []).map(nodeOf),
  });
  return roots.map(nodeOf);
}
