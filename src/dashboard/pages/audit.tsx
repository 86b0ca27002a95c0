import { z } from 'zod';
import { carryOut } from '../../control/carry-out.ts';
import { listAudit } from '../../control/commands/list-audit.ts';
import { commands } from '../../control/commands.ts';
import { auditResults } from '../../records/audit-results.ts';
import type { AuditLine } from '../../records/audit-store.ts';
import { actorOf } from '../auth/caller.ts';
import { AuditFacts } from '../components/audit-facts.tsx';
import { Badge } from '../components/badge.tsx';
import { Empty } from '../components/empty.tsx';
import { FilterBar } from '../components/filter-bar.tsx';
import { showPage } from '../components/layout.tsx';
import { policyPath, runPath } from '../components/paths.ts';
import { Cut, DataTable } from '../components/table.tsx';
import { Sentence, Time } from '../components/time.tsx';
import type { DashboardContext, Exchange } from '../http/context.ts';

const PATH = '/audit';
const PAGE = 50;

const text = z.string().trim().max(200).catch('');
const Query = z.object({
  who: text,
  what: text,
  policy: text,
  run: text,
  result: z.enum(auditResults).or(z.literal('')).catch(''),
  after: z
    .string()
    .regex(/^\d+-\d+$/)
    .or(z.literal(''))
    .catch(''),
});
type Query = z.output<typeof Query>;

/** What can be chosen in addition to commands. */
const events = [
  ...['sign-in', 'sign-out', 'policy-file.changed', 'settings.changed', 'policy.paused-automatically'],
  'policy.caught-up',
];

/** The audit log, newest first, with filters. */
export async function showAudit(c: Exchange, context: DashboardContext): Promise<Response> {
  const query = Query.parse(c.req.query());
  const input = { ...onlyGiven(query), limit: PAGE };
  const { lines, next } = await carryOut(listAudit, context.control, input, actorOf(c));
  const now = context.clock.now();
  const acts = commands.filter(({ reads }) => !reads).map(({ name }) => name);
  return showPage(
    c,
    context,
    { title: 'Audit', here: PATH },
    <section>
      <div class="page-head">
        <h1>Audit</h1>
      </div>
      <FilterBar
        path={PATH}
        filters={[
          { name: 'who', label: 'Who', value: query.who },
          { name: 'what', label: 'What', value: query.what, suggestions: [...acts, ...events] },
          {
            name: 'policy',
            label: 'Policy',
            value: query.policy,
            suggestions: context.policies().map(({ name }) => name),
          },
          { name: 'run', label: 'Run', value: query.run },
          { name: 'result', label: 'Result', value: query.result, options: auditResults },
        ]}
      />
      {lines.length === 0 ? (
        <Empty title="No line of the audit log matches." icon="scroll-text">
          Whatever people, programs and Caretaker itself changed is here, with who asked for it and why.{' '}
          <a href={PATH}>Show all</a>
        </Empty>
      ) : (
        <DataTable
          name="Audit log"
          columns={[
            { head: 'Time', width: 'w-word' },
            { head: 'Who', width: 'w-word' },
            { head: 'What', width: 'w-name' },
            { head: 'Result', width: 'w-badge' },
            { head: 'Subject', width: 'w-in', wideOnly: true },
            { head: 'Detail' },
          ]}
        >
          {lines.map((line) => (
            <>
              <AuditRow line={line} now={now} />
              <FactsRow line={line} now={now} />
            </>
          ))}
        </DataTable>
      )}
      {(query.after !== '' || next !== undefined) && (
        <nav class="pager" aria-label="Pages of the audit log">
          {query.after !== '' && <a href={pathOf({ ...query, after: '' })}>Newest</a>}
          {next !== undefined && <a href={pathOf({ ...query, after: next })}>Older</a>}
        </nav>
      )}
    </section>,
  );
}

const AuditRow = ({ line, now }: { line: AuditLine; now: number }) => (
  <tr data-key={`${line.act} ${line.result}`}>
    <td data-label="Time">
      <Time at={line.at} now={now} show="relative" />
    </td>
    <td data-label="Who">
      <Cut whole={`${line.who.name}, ${line.from}`}>
        {line.who.name} <span class="dim">{line.from}</span>
      </Cut>
    </td>
    <td data-label="What">
      <Cut whole={line.what} />
    </td>
    <td data-label="Result">
      <Badge word={line.result} />
    </td>
    <td data-label="Subject" class="wide-only">
      <SubjectLink line={line} />
    </td>
    <td data-label="Detail">
      <Details line={line} />
    </td>
  </tr>
);

/** All facts, over the whole width: shown by the style sheet while the details of the row before it are open. */
const FactsRow = ({ line, now }: { line: AuditLine; now: number }) => (
  <tr class="facts" data-key={`facts ${line.act} ${line.result}`}>
    <td colspan={6}>
      <AuditFacts line={line} now={now} />
    </td>
  </tr>
);

/** Its run, or its policy, or else its account. */
function SubjectLink({ line: { run, policy, account } }: { line: AuditLine }) {
  const whole = run ?? policy ?? account ?? '';
  const path = run !== undefined ? runPath(run) : policy === undefined ? undefined : policyPath(policy);
  return <Cut whole={whole}>{path === undefined ? whole : <a href={path}>{whole}</a>}</Cut>;
}

/** In one line, which opens the row with all facts. */
function Details({ line }: { line: AuditLine }) {
  const { why, message, detail, targets } = line;
  const named = targets === undefined ? undefined : `${targets} named targets`;
  const text = [why, message, detail, named].filter((part) => part !== undefined).join(' · ');
  return (
    <details class="more">
      <summary>
        {text === '' ? <span class="dim">All facts</span> : <Sentence text={text} />}
        <span class="unseen"> of {line.what}</span>
      </summary>
    </details>
  );
}

const onlyGiven = (query: Query): Partial<Omit<Query, 'result'>> & { result?: AuditLine['result'] } =>
  Object.fromEntries(Object.entries(query).filter(([, value]) => value !== ''));

const pathOf = (query: Query): string => `/audit?${new URLSearchParams(onlyGiven(query))}`;
