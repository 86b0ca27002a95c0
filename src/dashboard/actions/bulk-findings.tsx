/** Acknowledge all findings that the filters of the list match: one command, and one line in the audit log, for each policy. */
import { isPermitted } from '../../access/principal.ts';
import { isoTime } from '../../clock.ts';
import { carryOut } from '../../control/carry-out.ts';
import { acknowledgeFindings } from '../../control/commands/acknowledge-findings.ts';
import { listFindingsCommand } from '../../control/commands/list-findings.ts';
import { NotFoundError } from '../../control/errors.ts';
import type { FindingPage, ListedFinding } from '../../control/findings.ts';
import { countOf } from '../../text.ts';
import { actorOf, ask, principalOf } from '../auth/caller.ts';
import { policyPath } from '../components/paths.ts';
import type { DashboardContext, Exchange } from '../http/context.ts';
import { pageBefore } from '../http/toast.ts';
import { type FindingQuery, readFindingQuery, requireValid } from '../queries/list-query.ts';
import { AcknowledgeFields } from './acknowledge.tsx';
import { sendResult, whyFailed } from './bulk.tsx';
import { type Change, formOf, Hidden, reasonAndEnd, showConfirmation } from './confirm.tsx';

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

/** @throws {NotFoundError} when nothing matches. */
async function requireMatching(...args: Parameters<typeof matching>) {
  const found = await matching(...args);
  if (found.count === 0) throw new NotFoundError('No open finding matches that you may acknowledge.');
  return found;
}

export const bulkFindingChange: Change = {
  path: BULK_FINDINGS_PATH,
  access: acknowledgeFindings.role,
  ask: async (c, context) => {
    const now = context.clock.now();
    const query = requireValid(readFindingQuery((name) => c.req.query(name), now));
    const { policies, count } = await requireMatching(c, context, query);
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
          <Hidden fields={{ ...query.given, asked: isoTime(now) }} />
          <AcknowledgeFields />
        </>
      ),
    });
  },
  // Findings that were first seen after the question are not acknowledged.
  act: async (c, context) => {
    const form = await formOf(c);
    const query = requireValid(readFindingQuery(form.text, context.clock.now()));
    const input = reasonAndEnd(form);
    const { until = form.text('asked') } = query.filter;
    const found = await requireMatching(c, context, { ...query, filter: { ...query.filter, until } });
    const failures: { name: string; path: string; why: string }[] = [];
    let count = 0;
    for (const all of found.policies) {
      const [{ policy, account } = { policy: '', account: '' }] = all;
      const findings = all.map(({ target, about }) => ({ target, about }));
      const of = { policy, account, findings, ...input };
      const done = carryOut(acknowledgeFindings, context.control, of, actorOf(c)).then(({ length }) => {
        count += length;
      });
      const why = await whyFailed(done);
      if (why !== undefined) failures.push({ name: policy, path: policyPath(policy), why });
    }
    return sendResult(c, context, {
      text: `${countOf(count, 'finding')} acknowledged`,
      failures,
      after: { path: '/findings?state=acknowledged', word: 'Show them' },
      back: pageBefore(c, context, '/findings'),
      here: '/findings',
    });
  },
};
