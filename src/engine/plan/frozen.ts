/** Which targets a freeze of a client or a tag holds for. */
import type { End } from '../../job/answer.ts';
import type { ScopedFreeze } from '../../records/freeze-scope.ts';
import { formatFreeze, formatFrozen } from '../../records/freeze-store.ts';
import { isMeant, type Owner, type Party } from './owners.ts';

/**
 * How a target ends because it is frozen; undefined when no freeze holds for it. A target of which the
 * service does not show what a freeze depends on counts as frozen.
 */
export function frozenEnd(freezes: readonly ScopedFreeze[], owner: Owner): End | undefined {
  for (const freeze of freezes) {
    const holds = holdsFor(freeze, owner);
    if (holds === false) continue;
    const begin = holds === 'unknown' ? 'The service does not show its client or tags, and ' : '';
    const subject = formatFrozen(freeze);
    const sentence = `${begin}${subject} is ${formatFreeze(freeze)}.`;
    return {
      is: 'skipped',
      reason: 'frozen',
      detail: `${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}`,
    };
  }
  return undefined;
}

function holdsFor({ scope: { client, tag } }: ScopedFreeze, owner: Owner): boolean | 'unknown' {
  const parties = owner.client === undefined ? undefined : owner.client === null ? [] : [owner.client];
  const answers = [isOneOf(client, parties), isOneOf(tag, owner.tags)];
  if (answers.includes(false)) return false;
  return answers.includes('unknown') ? 'unknown' : true;
}

function isOneOf(text: string | undefined, parties: readonly Party[] | undefined): boolean | 'unknown' {
  if (text === undefined) return true;
  return parties === undefined ? 'unknown' : parties.some((party) => isMeant(party, text));
}
