/** Pauses and resumes policies. */
import { isoEnd } from '../../clock.ts';
import { listPolicies } from '../../control/commands/list-policies.ts';
import { type PauseDeps, pausePolicy, resumePolicy } from '../../control/commands/pause-policy.ts';
import { hasLabels } from '../../policy/labels.ts';
import { type Pause, pauseAt } from '../../records/policy-store.ts';
import type { PolicyReport } from '../../schedule/policy-report.ts';
import { matchesPattern } from '../../text.ts';
import { isOnServer, withClient } from '../client.ts';
import {
  type GlobalOptions,
  hasRecords,
  noSuchPolicy,
  policiesOf,
  type ReasonOption,
  settingsOf,
} from '../context.ts';
import { exit, UsageError } from '../exit.ts';
import { pauseIn } from '../from-answers.ts';
import { formatPause } from '../output/pause.ts';
import type { Terminal } from '../output/terminal.ts';
import { endText, type UntilOptions } from '../parse-time.ts';
import { noPolicyOn } from '../read-policies.ts';

/** Which policies to change. If several criteria are given, a policy must meet all of them. */
interface Selector {
  job?: string;
  account?: string;
  label?: string[] | undefined;
  all?: boolean;
}

type Options = GlobalOptions & ReasonOption & Selector;

/** A policy that was selected; a file with errors, or without the policy, has only its name. */
type Chosen = Pick<PolicyReport, 'name'> & Partial<Pick<PolicyReport, 'paused' | 'enabled'>>;

/** All names have been checked before. */
const isKnown = { isKnown: () => true } satisfies Pick<PauseDeps, 'isKnown'>;

/**
 * Pauses policies until they are resumed or the pause ends by itself. A pause survives restarts and changes
 * of the files.
 */
export const pausePolicies = (
  terminal: Terminal,
  words: string[],
  options: Options & UntilOptions,
): Promise<number> =>
  withSelected(terminal, words, options, async ({ act, clock }, chosen) => {
    const { reason } = options;
    const until = endText(options, clock.now());
    for (const { name, paused, enabled } of chosen) {
      if (paused && reason === undefined && until === undefined) {
        terminal.message(`${name} is already ${formatPause(pauseIn(paused))}. Nothing was changed.`);
        continue;
      }
      const answer = await act(pausePolicy, { policy: name, reason, until }, isKnown);
      const before = answer.replaced ? pauseIn(answer.replaced) : undefined;
      const pause = answer.until === null ? {} : { until: Date.parse(answer.until) };
      printPaused(name, { pause, before, isDisabled: enabled === false }, terminal);
    }
    return exit.ok;
  });

/** Prints that a policy is paused. */
function printPaused(
  name: string,
  {
    pause,
    before,
    isDisabled,
  }: { pause: Pick<Pause, 'until'>; before: Pause | undefined; isDisabled: boolean },
  terminal: Terminal,
): void {
  if (before) terminal.message(`This replaces an earlier pause: ${formatPause(before)}.`);
  if (isDisabled) {
    terminal.message(
      `${name} is paused${pause.until === undefined ? '' : ` until ${isoEnd(pause.until)}`}. ${STAYS_DISABLED}`,
    );
    return;
  }
  terminal.message(
    pause.until === undefined
      ? `${name} is paused. "caretaker policies resume ${name}" resumes it.`
      : `${name} is paused until ${isoEnd(pause.until)}, and is then resumed automatically.`,
  );
}

const STAYS_DISABLED = 'Its schedule stays disabled (schedule.enabled: false).';

/** Resumes paused policies. Runs that were due during the pause are not caught up. */
export const resumePolicies = (terminal: Terminal, words: string[], options: Options): Promise<number> =>
  withSelected(terminal, words, options, async ({ act }, chosen) => {
    let isAnySaid = false;
    for (const { name, enabled } of chosen) {
      const { replaced } = await act(resumePolicy, { policy: name, reason: options.reason }, isKnown);
      if (replaced) terminal.message(formatResumed(name, pauseIn(replaced), enabled === false));
      else if (words.includes(name)) terminal.message(`${name} was not paused.`);
      isAnySaid ||= replaced !== null || words.includes(name);
    }
    if (!isAnySaid)
      terminal.message(
        chosen.length === 1
          ? 'The policy was not paused.'
          : `None of these ${chosen.length} policies was paused.`,
      );
    return exit.ok;
  });

const formatResumed = (name: string, was: Pause, isDisabled: boolean): string =>
  isDisabled
    ? `${name} is no longer paused; it was ${formatPause(was)}. ${STAYS_DISABLED}`
    : `${name} is resumed; it was ${formatPause(was)}.`;

type PolicyClient = Parameters<Parameters<typeof withClient<'policies'>>[3]>[0];

/** Opens a client, and selects policies of it. All words are checked before anything is changed. */
async function withSelected(
  terminal: Terminal,
  words: readonly string[],
  options: Options,
  use: (client: PolicyClient, chosen: readonly Chosen[]) => Promise<number>,
): Promise<number> {
  if (words.length === 0 && !options.all && !options.job && !options.account && !options.label)
    throw new UsageError(
      'Select policies by name, by a pattern such as "nightly-*", with --job, --account or --label, or with --all.',
    );
  const settings = isOnServer(terminal, options) ? undefined : settingsOf(terminal, options);
  const loaded = settings && (await policiesOf(settings));
  // Without records, an unknown name is found before they are made.
  if (settings && loaded && !hasRecords(settings))
    for (const word of words)
      if (!isPattern(word) && ![...loaded.policies, ...loaded.broken].some(({ name }) => name === word))
        throw noSuchPolicy(word, settings, loaded);
  return withClient('policies', terminal, options, async (client) => {
    const { policies } = await client.read(listPolicies, {}, { policies: [], schedulers: 0 });
    const others = loaded
      ? [...loaded.broken.map(({ name }) => name), ...(await pausedAmong(client, words))]
      : [];
    const known = new Map<string, Chosen & Partial<PolicyReport>>([
      ...others.map((name) => [name, { name }] as const),
      ...policies.map((report) => [report.name, report] as const),
    ]);
    for (const word of words)
      if (!isPattern(word) && !known.has(word))
        throw settings && loaded
          ? noSuchPolicy(word, settings, loaded)
          : noPolicyOn(client.server ?? '', word, policies);
    const { job, account, label } = options;
    const chosen = [...known.values()].filter(
      (one) =>
        (words.length === 0 || words.some((word) => matchesPattern(one.name, word))) &&
        hasLabels(one.labels, label) &&
        (job === undefined || one.jobs?.includes(job)) &&
        (account === undefined || one.account === account),
    );
    if (chosen.length === 0) throw new UsageError('No policy matches. Nothing was changed.');
    return use(client, chosen);
  });
}

/** A policy can still be resumed when its file no longer exists. */
async function pausedAmong({ here, clock }: PolicyClient, words: readonly string[]): Promise<string[]> {
  if (!here) return [];
  const states = await here.records.policies.many([...words]);
  return words.filter((word) => pauseAt(states.get(word), clock.now()));
}

const isPattern = (word: string): boolean => /[*?]/.test(word);
