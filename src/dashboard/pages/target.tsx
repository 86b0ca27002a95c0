import { stepNamesOf } from '../../run/steps.ts';
import { policyPath, runPath, Table, Time } from '../components/components.tsx';
import { showPage } from '../components/layout.tsx';
import type { DashboardContext, Exchange } from '../http/context.ts';
import { sendProblem } from './problem.tsx';
import { ResultCells } from './run.tsx';

/** The records store so many runs of a target. */
const LATEST = 20;

/** The results of one target in its last runs, newest first. */
export async function showTarget(c: Exchange, context: DashboardContext): Promise<Response> {
  const account = c.req.param('account') ?? '';
  const id = c.req.param('id') ?? '';
  // A target that needed no action when the run was planned is not on the list of its runs.
  const targetRuns = await context.reader.runsOfTarget(account, id, c.req.query('run'));
  const [latest] = targetRuns;
  if (!latest) {
    return sendProblem(c, context, 404, 'No stored run has worked on this target.');
  }
  const now = context.clock.now();
  return showPage(
    c,
    context,
    { title: latest.target.label, here: '/runs', live: '*' },
    <section id="target-runs" data-live>
      <p class="dim">
        <a href="/runs">Runs</a> / target
      </p>
      <h1>{latest.target.label}</h1>
      <p class="dim">
        <span class="id">{id}</span> of the account {account}: its results in the last runs, at most {LATEST}.
      </p>
      <Table
        name="Results"
        heads={['Run', 'Policy', 'Outcome', 'Why', 'Took']}
        widths={['w-run', 'w-name', 'w-badge', '', 'w-word']}
      >
        {targetRuns.map(({ run, target }) => (
          <tr data-key={run.id}>
            <td data-label="Run">
              <a href={runPath(run.id)} class="plain">
                <Time at={target.finishedAt ?? target.startedAt ?? run.createdAt} now={now} />
              </a>
            </td>
            <td data-label="Policy">
              <a href={policyPath(run.policy)}>{run.policy}</a>
            </td>
            <ResultCells target={target} now={now} stepNames={stepNamesOf(run)} />
          </tr>
        ))}
      </Table>
    </section>,
  );
}
