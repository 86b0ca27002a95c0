import { type RunStatus, runStatuses } from '../../run/run.ts';
import { RunTable } from '../components/components.tsx';
import { showPage } from '../components/layout.tsx';
import type { DashboardContext, Exchange } from '../http/context.ts';
import { nextRunPage } from '../queries/paging.ts';

const PAGE = 50;

/** All stored runs, newest first, filtered by policy and status on request. */
export async function showRuns(c: Exchange, context: DashboardContext): Promise<Response> {
  const policy = c.req.query('policy') || undefined;
  const status = runStatuses.find((one) => one === c.req.query('status'));
  const before = Number(c.req.query('before')) || undefined;
  const found = await context.reader.runs({
    limit: PAGE + 1,
    ...(policy ? { policy } : {}),
    ...(status ? { status } : {}),
    ...(before === undefined ? {} : { before }),
  });
  const now = context.clock.now();
  const runs = found.slice(0, PAGE);
  const next = nextRunPage(found, PAGE);
  const names = context.policies().map(({ name }) => name);
  return showPage(
    c,
    context,
    { title: 'Runs', here: '/runs', live: '*' },
    <section>
      <h1>Runs</h1>
      <form class="search" method="get" action="/runs">
        <label>
          Policy
          <input name="policy" list="policies" value={policy ?? ''} placeholder="any" autocomplete="off" />
        </label>
        <datalist id="policies">
          {names.map((name) => (
            <option value={name} />
          ))}
        </datalist>
        <label>
          Status
          <select name="status">
            <option value="">any</option>
            {runStatuses.map((one) => (
              <option value={one} selected={one === status}>
                {one}
              </option>
            ))}
          </select>
        </label>
        <button type="submit">Show</button>
      </form>
      <div id="runs" data-live>
        {runs.length === 0 ? (
          <p class="dim">
            {policy || status || before
              ? 'No run matches.'
              : 'None yet. “Run now” on the overview starts one.'}
          </p>
        ) : (
          <RunTable name="Runs" runs={runs} now={now} />
        )}
        {(before !== undefined || next !== undefined) && (
          <nav class="pager" aria-label="Pages of runs">
            {before !== undefined && <a href={pathOf(policy, status, undefined)}>Newest</a>}
            {next !== undefined && <a href={pathOf(policy, status, next)}>Older</a>}
          </nav>
        )}
      </div>
    </section>,
  );
}

const pathOf = (policy: string | undefined, status: RunStatus | undefined, before: number | undefined) =>
  `/runs?${new URLSearchParams({
    ...(policy ? { policy } : {}),
    ...(status ? { status } : {}),
    ...(before === undefined ? {} : { before: String(before) }),
  })}`;
