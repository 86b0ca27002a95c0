import { matchesPattern } from '../text.ts';
import { type Diagnostic, inOrder } from '../yaml/diagnostic.ts';
import type { Settings } from './settings.ts';

/** What is unsafe in the configuration, and the limits of roles that name none of these policies. */
export const warningsOf = (
  { warnings, policyMentions }: Pick<Settings, 'warnings' | 'policyMentions'>,
  policies: readonly string[],
): Diagnostic[] =>
  inOrder([
    ...warnings,
    ...policyMentions.filter(({ policy }) => !policies.some((name) => matchesPattern(name, policy))),
  ]);
