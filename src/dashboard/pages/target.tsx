import { policyPath, runPath, Table, Time } from '../components/components.tsx';
import { showPage } from '../components/layout.tsx';
import type { DashboardContext, Exchange } from '../http/context.ts';
import { sendProblem } from './problem.tsx';
import { EndCells } from './run.tsx';

/** So many runs of a target are kept in mind (`records`). */
const LATEST = 20;

/** What became of one target in its last runs, the newest first. */
export async function showTarget(c: Exchange, context: DashboardContext): Promise<Response> {
  const account = c.req.param('account') ?? '';
  const id = c.req.param('id') ?? '';
  // A target that was left alone when the run was planned is not on the list of its runs.
  const visits = await context.reader.visits(account, id, c.req.query('run'));
  const [latest] = visits;
  if (!latest) {
    return sendProblem(c, context, 404, 'No run that is kept has worked on such a target.');
  }
  const now = context.clock.now();
  return showPage(
    c,
    context,
    { title: latest.target.label, here: '/runs', live: '*' },
    <section id="visits" data-live>
      <p class="dim">
        <a href="/runs">Runs</a> / target
      </p>
      <h1>{latest.target.label}</h1>
      <p class="dim">
        <span class="id">{id}</span> of the account {account}: what became of it in its last runs, at most{' '}
        {LATEST}.
      </p>
      <Table
        name="What became of it"
        heads={['Run', 'Policy', 'Outcome', 'Why', 'Took']}
        widths={['w-run', 'w-name', 'w-badge', '', 'w-word']}
      >
        {visits.map(({ run, target }) => (
          <tr data-key={run.id}>
            <td data-label="Run">
              <a href={runPath(run.id)} class="plain">
                <Time at={target.finishedAt ?? target.startedAt ?? run.createdAt} now={now} />
              </a>
            </td>
            <td data-label="Policy">
              <a href={policyPath(run.policy)}>{run.policy}</a>
            </td>
            <EndCells target={target} now={now} />
          </tr>
        ))}
      </Table>
    </section>,
  );
}
