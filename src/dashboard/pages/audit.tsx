import type { Child } from 'hono/jsx';
import { z } from 'zod';
import { auditColumns } from '../../control/audit-report.ts';
import { listAudit } from '../../control/commands/list-audit.ts';
import { commands } from '../../control/commands.ts';
import type { AuditLine } from '../../records/audit-store.ts';
import { auditResults } from '../../records/filter-values.ts';
import { ask } from '../auth/caller.ts';
import { Badge } from '../components/badge.tsx';
import { Empty } from '../components/empty.tsx';
import { FilterBar, Pages } from '../components/filter-bar.tsx';
import { showPage } from '../components/layout.tsx';
import { policyPath, runPath } from '../components/paths.ts';
import { Fact } from '../components/progress.tsx';
import { type Columns, Cut, Table } from '../components/table.tsx';
import { Sentence, Time } from '../components/time.tsx';
import type { DashboardContext, Exchange } from '../http/context.ts';
import { readTimes } from '../queries/list-query.ts';
import { CsvLink, sendList } from './export.tsx';
import { sendProblem } from './problem.tsx';

const PATH = '/audit';
const PAGE = 50;

const text = z.string().trim().max(200).catch('');
const Query = z.object({
  who: text,
  what: text,
  policy: text,
  run: text,
  from: text,
  to: text,
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
  ...['policy.caught-up', 'export'],
];

/** The audit log, newest first, with filters. */
export async function showAudit(c: Exchange, context: DashboardContext): Promise<Response> {
  const query = Query.parse(c.req.query());
  const { filter, faults } = inputOf(query, context.clock.now());
  const { lines, next } =
    faults.length > 0 ? { lines: [] } : await ask(c, context, listAudit, { ...filter, limit: PAGE });
  const acts = commands.filter(({ reads }) => !reads).map(({ name }) => name);
  return showPage(
    c,
    context,
    { title: 'Audit', here: PATH },
    <section>
      <div class="page-head">
        <h1>Audit</h1>
        <CsvLink path="/audit.csv" given={{ ...query, after: '' }} />
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
          { name: 'from', label: 'From', value: query.from, placeholder: '7d or a date' },
          { name: 'to', label: 'To', value: query.to, placeholder: 'now' },
        ]}
      />
      {faults.length > 0 ? (
        <Empty icon="triangle-alert" title={faults.join(' ')} />
      ) : lines.length === 0 ? (
        <Empty title="No line of the audit log matches." icon="scroll-text">
          Whatever people, programs and Caretaker itself changed is here, with who asked for it and why.{' '}
          <a href={PATH}>Show all</a>
        </Empty>
      ) : (
        <Table
          name="Audit log"
          columns={columns}
          rows={lines}
          keyOf={keyOf}
          after={(line, { length }) => (
            // Over the whole width: shown by the style sheet while the details of the row before it are open.
            <tr class="facts" data-key={`facts ${keyOf(line)}`}>
              <td colspan={length}>
                <AuditFacts line={line} />
              </td>
            </tr>
          )}
        />
      )}
      <Pages
        {...{ of: 'the audit log', path: PATH, given: query, at: query.after || undefined, next }}
        isByTime
      />
    </section>,
  );
}

/** Every line that matches, as CSV. */
export async function sendAuditCsv(c: Exchange, context: DashboardContext): Promise<Response> {
  const { filter, faults } = inputOf(Query.parse(c.req.query()), context.clock.now());
  if (faults.length > 0) return sendProblem(c, context, 400, faults.join(' '));
  const file = { of: 'audit', columns: auditColumns };
  return sendList(c, context, file, listAudit, filter, ({ lines }) => lines);
}

const keyOf = ({ act, result }: AuditLine): string => `${act} ${result}`;

const columns: Columns<AuditLine> = (column) => [
  column('Time', 'w-word', ({ at }) => <Time at={at} show="relative" />),
  column('Who', 'w-word', ({ who, from }) => (
    <Cut whole={`${who.name}, ${from}`}>
      {who.name} <span class="dim">{from}</span>
    </Cut>
  )),
  column('What', 'w-name', ({ what }) => <Cut whole={what}>{what.replace(/[.-]/g, ' ')}</Cut>),
  column('Result', 'w-badge', ({ result }) => <Badge word={result} />),
  column('Subject', 'w-in wide-only', SubjectLink),
  column('Detail', '', Details),
];

/** Its run, or its policy, or else its account. */
export function SubjectLink({ run, policy, account = '' }: Pick<AuditLine, 'run' | 'policy' | 'account'>) {
  if (run !== undefined) return <Cut whole={run} to={runPath(run)} />;
  return policy === undefined ? <Cut whole={account} /> : <Cut whole={policy} to={policyPath(policy)} />;
}

/** In one line, which opens the row with all facts. */
function Details({ what, why, message, detail, targets }: AuditLine) {
  const named = targets === undefined ? undefined : `${targets} named targets`;
  const text = [why, message, detail, named].filter((part) => part !== undefined).join(' · ');
  return (
    <details class="more">
      <summary>
        {text === '' ? <span class="dim">Details</span> : <Sentence text={text} />}
        <span class="unseen"> of {what}</span>
      </summary>
    </details>
  );
}

function inputOf({ from, to, ...query }: Query, now: number) {
  const faults: string[] = [];
  const given: Partial<Omit<typeof query, 'result'>> & { result?: AuditLine['result'] } = Object.fromEntries(
    Object.entries(query).filter(([, value]) => value !== ''),
  );
  return { filter: { ...given, ...readTimes({ from, to }, now, faults) }, faults };
}

/** All facts about an act in the audit log: what was asked for, and what came of it. */
const kinds: Readonly<Record<string, string>> = {
  user: 'user of the configuration',
  token: 'token of the configuration',
  local: 'a user with access to Redis',
  daemon: 'Caretaker itself',
};

type Facts = readonly (readonly [name: string, value: Child | undefined])[];

const AuditFacts = ({ line }: { line: AuditLine }) => {
  const { act, at, who, from, what, policy, account, run, targets, detail, why, code, message } = line;
  return (
    <div class="audit-facts">
      <p class="strong">Request</p>
      <FactList
        facts={[
          ['Who', `${who.name} (${kinds[who.kind] ?? who.kind})`],
          ['From', from],
          ['What', <code>{what}</code>],
          ['Policy', policy && <a href={policyPath(policy)}>{policy}</a>],
          ['Account', account],
          ['Run', run && <a href={runPath(run)}>{run}</a>],
          ['Named targets', targets],
          ['Reason', why],
          ['Act', <span class="id">{act}</span>],
        ]}
      />
      <p class="strong">Answer</p>
      <FactList
        facts={[
          ['Result', <Badge word={line.result} />],
          ['Time', <Time at={at} />],
          ['Error', code && <code>{code}</code>],
          ['Message', message && <Sentence text={message} />],
          ['Detail', detail && <Sentence text={detail} />],
        ]}
      />
      {line.result === 'requested' && (
        <p class="dim">
          It has no result: the act is going on, or its process died and it may have happened.
        </p>
      )}
    </div>
  );
};

/** Those that are known. */
const FactList = ({ facts }: { facts: Facts }) => (
  <dl>
    {facts
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => (
        <Fact name={name}>{value}</Fact>
      ))}
  </dl>
);
