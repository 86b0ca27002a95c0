/** Acknowledge all findings that the filters of the list match: one command, and one line in the audit log, for each policy. */
import { isPermitted } from '../../access/principal.ts';
import { isoTime } from '../../clock.ts';
import { carryOut } from '../../control/carry-out.ts';
import { acknowledgeFindings } from '../../control/commands/acknowledge-findings.ts';
import { listFindingsCommand } from '../../control/commands/list-findings.ts';
import type { FindingPage, ListedFinding } from '../../control/findings.ts';
import { CaretakerError } from '../../errors.ts';
import { countOf } from '../../text.ts';
import { actorOf, ask, principalOf } from '../auth/caller.ts';
import { policyPath } from '../components/paths.ts';
import type { DashboardContext, Exchange } from '../http/context.ts';
import { pageBefore } from '../http/toast.ts';
import { sendProblem } from '../pages/problem.tsx';
import { type FindingQuery, findingParameters, readFindingQuery } from '../queries/list-query.ts';
import { AcknowledgeFields, readAcknowledge } from './acknowledge.tsx';
import { sendResult } from './bulk-result.tsx';
import { showConfirmation } from './confirm.tsx';

export const BULK_FINDINGS_PATH = '/bulk/acknowledge';

/** At most this many at once. */
const MAX_SELECTED = 1_000;
const PAGE = 500;
/** So many policies are named in the question. */
const MAX_NAMED = 10;

/** The findings by policy and account that match, that count, and that the caller may acknowledge. */
async function matching(
  c: Exchange,
  context: DashboardContext,
  { filter }: FindingQuery,
): Promise<{ policies: ListedFinding[][]; count: number }> {
  const state = filter.state ?? ['new', 'open'];
  const groups = new Map<string, ListedFinding[]>();
  let count = 0;
  for (let after: string | undefined, isEnd = false; !isEnd; isEnd = after === undefined) {
    const input = { ...filter, state, limit: PAGE, after };
    const { findings, next }: FindingPage = await ask(c, context, listFindingsCommand, input);
    after = next;
    for (const one of findings) {
      if (one.state !== 'new' && one.state !== 'open') continue;
      if (count === MAX_SELECTED || !isPermitted(principalOf(c), acknowledgeFindings.role, one)) continue;
      const key = `${one.account}\n${one.policy}`;
      groups.set(key, [...(groups.get(key) ?? []), one]);
      count += 1;
    }
  }
  return { policies: [...groups.values()], count };
}

const NONE = 'No open finding matches that you may acknowledge.';

export async function askToAcknowledgeMany(c: Exchange, context: DashboardContext): Promise<Response> {
  const now = context.clock.now();
  const query = readFindingQuery((name) => c.req.query(name), now);
  if (query.faults.length > 0) return sendProblem(c, context, 400, query.faults.join(' '));
  const { policies, count } = await matching(c, context, query);
  if (count === 0) return sendProblem(c, context, 404, NONE);
  const counted = countOf(count, 'finding');
  const named = policies.slice(0, MAX_NAMED).map((all) => `${all[0]?.policy} ${all.length}`);
  const more = policies.length - named.length;
  return showConfirmation(c, context, {
    title: `Acknowledge ${counted}?`,
    text: `${named.join(', ')}${more > 0 ? ` and ${more} more policies` : ''}. They are listed as acknowledged and do not count. One that is resolved and comes back counts again.${count === MAX_SELECTED ? ` At most ${MAX_SELECTED} are acknowledged at once.` : ''}`,
    button: `Acknowledge ${counted}`,
    back: '/findings',
    fields: (
      <>
        {findingParameters.map(
          (name) => query.given[name] && <input type="hidden" name={name} value={query.given[name]} />,
        )}
        <input type="hidden" name="asked" value={isoTime(now)} />
        <AcknowledgeFields />
      </>
    ),
  });
}

/** Findings that were first seen after the question are not acknowledged. */
export async function acknowledgeMany(c: Exchange, context: DashboardContext): Promise<Response> {
  const form = await c.req.parseBody();
  const textOf = (name: string) => (typeof form[name] === 'string' ? form[name].trim() : '');
  const query = readFindingQuery(textOf, context.clock.now());
  const input = readAcknowledge(textOf);
  const faults = [...query.faults, ...(typeof input === 'string' ? [input] : [])];
  if (typeof input === 'string' || faults.length > 0)
    return sendProblem(c, context, 400, `${faults.join(' ')} Nothing was changed.`);
  const { until = textOf('asked') || undefined } = query.filter;
  const found = await matching(c, context, { ...query, filter: { ...query.filter, until } });
  if (found.count === 0) return sendProblem(c, context, 404, NONE);
  const failures: { name: string; path: string; why: string }[] = [];
  let count = 0;
  for (const all of found.policies) {
    const [{ policy, account } = { policy: '', account: '' }] = all;
    const findings = all.map(({ target, about }) => ({ target, about }));
    try {
      const of = { policy, account, findings, ...input };
      count += (await carryOut(acknowledgeFindings, context.control, of, actorOf(c))).length;
    } catch (error) {
      // The sentence is for people; the other policies do not depend on this one.
      if (!(error instanceof CaretakerError)) throw error;
      failures.push({ name: policy, path: policyPath(policy), why: error.message });
    }
  }
  return sendResult(c, context, {
    text: `${countOf(count, 'finding')} acknowledged`,
    failures,
    after: { path: '/findings?state=acknowledged', word: 'Show them' },
    back: pageBefore(c, context, '/findings'),
    here: '/findings',
  });
}
