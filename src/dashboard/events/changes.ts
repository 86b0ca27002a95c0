import { isPermitted, type Principal } from '../../access/principal.ts';
import type { CaretakerEvent } from '../../records/events.ts';
import type { PageContext } from '../http/context.ts';
import { scopedTo } from '../queries/scope.ts';

/** What changed since it was last reported: names only. */
export interface Changes {
  runs: Set<string>;
  policies: Set<string>;
}

export const noChanges = (): Changes => ({ runs: new Set(), policies: new Set() });

export const isNone = ({ runs, policies }: Changes): boolean => runs.size + policies.size === 0;

export function addEvent({ runs, policies }: Changes, event: CaretakerEvent): void {
  if ('run' in event) runs.add(event.run);
  if ('policy' in event) policies.add(event.policy);
  // A freeze concerns every policy.
  if (event.type === 'freeze.changed') policies.add('*');
}

/** Those of the changes that the principal may see; a freeze concerns every policy. */
export async function seenBy(principal: Principal, changes: Changes, context: PageContext): Promise<Changes> {
  if (isPermitted(principal, 'viewer')) return changes;
  const { reader, policies } = scopedTo(principal, context);
  const names = policies().map(({ name }) => name);
  return {
    runs: new Set((await reader.runsOf([...changes.runs])).map(({ id }) => id)),
    policies: new Set([...changes.policies].filter((name) => name === '*' || names.includes(name))),
  };
}
