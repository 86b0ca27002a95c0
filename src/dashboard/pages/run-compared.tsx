import { useContext } from 'hono/jsx';
import {
  type Change,
  type Comparison,
  changes,
  compareRuns,
  formatComparison,
} from '../../control/commands/compare-runs.ts';
import { InvalidRequestError, NotFoundError } from '../../control/errors.ts';
import { ask } from '../auth/caller.ts';
import { Badge } from '../components/badge.tsx';
import { ReasonsContext } from '../components/contexts.tsx';
import { Dash, Empty } from '../components/empty.tsx';
import { pathWith } from '../components/filter-bar.tsx';
import { showPage } from '../components/layout.tsx';
import { policyPath, runPath, siteName, targetPath } from '../components/paths.ts';
import { number } from '../components/progress.tsx';
import { RunTable } from '../components/run-table.tsx';
import { Cut, Table } from '../components/table.tsx';
import { span } from '../components/time.tsx';
import type { DashboardContext, Exchange } from '../http/context.ts';

const MAX_SHOWN = 50;

/** A run beside an earlier one of its policy: what differs, target by target. */
export async function showCompared(c: Exchange, context: DashboardContext): Promise<Response> {
  const id = c.req.param('id') ?? '';
  const given = c.req.query('with')?.trim().slice(0, 300) || undefined;
  const compared = await ask(c, context, compareRuns, { run: id, with: given }).catch((error) => {
    if (error instanceof NotFoundError || error instanceof InvalidRequestError) return error;
    throw error;
  });
  const run = compared instanceof Error ? await context.reader.run(id) : compared.run;
  return showPage(
    c,
    context,
    { title: `${id} compared`, here: '/runs' },
    <section>
      <p class="dim">
        <a href="/runs">Runs</a> / {run && <a href={policyPath(run.policy)}>{run.policy}</a>} /{' '}
        <a href={runPath(id)} class="id">
          {id}
        </a>
      </p>
      <div class="page-head">
        <h1>Two runs side by side</h1>
      </div>
      <nav class="filters" aria-label="The run to compare it with">
        {choices.map(([value, label]) => (
          <a
            href={pathWith(runPath(id, '/compare'), { with: value })}
            {...(value === given ? { 'aria-current': 'page' } : {})}
          >
            {label}
          </a>
        ))}
      </nav>
      {!(compared instanceof Error) && <p>{formatComparison(compared.counts)}</p>}
      {compared instanceof Error ? (
        <Empty icon="clock" title={compared.message} />
      ) : (
        <>
          <RunTable name="The two runs" runs={[compared.run, compared.other]} withPolicy={false} />
          <section>
            <h2>What differs</h2>
            <Differences of={compared} />
          </section>
        </>
      )}
    </section>,
  );
}

const choices: readonly [string | undefined, string][] = [
  [undefined, 'the run before'],
  ['1d', 'a day before'],
  ['7d', 'a week before'],
  ['30d', '30 days before'],
];

const tones: Record<Change, string> = {
  'newly-failed': 'failed',
  'failed-again': 'failed',
  recovered: 'succeeded',
  'left-out': 'skipped',
  slower: 'partial',
  added: 'queued',
  removed: 'cancelled',
};

const Differences = ({ of: { run, other, counts, targets } }: { of: Comparison }) => {
  if (targets.length === 0) return <Empty icon="circle-check" title="No target differs." />;
  const shown = targets.slice(0, MAX_SHOWN);
  const all = Object.entries(counts).reduce(
    (sum, [change, count]) => sum + (change === 'same' ? 0 : count),
    0,
  );
  return (
    <>
      <Table
        name="Targets that differ"
        columns={(column) => [
          column('Target', '', ({ id, label, now }) => (
            <Cut
              whole={siteName(label, id)}
              to={targetPath(run.account, id, `?run=${encodeURIComponent((now ? run : other).id)}`)}
            />
          )),
          column('Change', 'w-in', ({ change }) => (
            <span title={changes[change]}>
              <Badge word={tones[change]}>{change.replace('-', ' ')}</Badge>
            </span>
          )),
          column('Before', 'w-count', ({ before }) => <How ended={before} />),
          column('Now', 'w-count', ({ now }) => <How ended={now} />),
          column('Took before', 'w-word end wide-only', ({ before }) => <Duration ms={before?.ms} />),
          column('Took', 'w-word end', ({ now }) => <Duration ms={now?.ms} />),
        ]}
        rows={shown}
        keyOf={({ id }) => id}
      />
      {all > shown.length && (
        <p class="dim">
          And {number(all - shown.length)} more: <code>caretaker runs compare {run.id} --output csv</code>
        </p>
      )}
    </>
  );
};

const Duration = ({ ms }: { ms: number | undefined }) => (ms === undefined ? <Dash /> : span(ms));

const How = ({ ended }: { ended: Comparison['targets'][number]['now'] }) => {
  const reasons = useContext(ReasonsContext);
  if (!ended) return <Dash />;
  return (
    <Cut whole={reasons.get(ended.reason)?.text ?? ended.reason}>
      <code>{ended.reason}</code>
    </Cut>
  );
};
