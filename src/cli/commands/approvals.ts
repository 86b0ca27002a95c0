/** Lists the runs that wait for an approval, and approves or rejects them. */
import { isoMinute } from '../../clock.ts';
import {
  approveRun as approve,
  listApprovals as list,
  openTargets,
  rejectRun as reject,
} from '../../control/commands/approve-run.ts';
import { isFinal } from '../../run/moves.ts';
import { lastApproval } from '../../run/rollout.ts';
import { countOf } from '../../text.ts';
import { withClient, withReader } from '../client.ts';
import type { GlobalOptions, ReasonOption } from '../context.ts';
import { exit } from '../exit.ts';
import { show } from '../output/show.ts';
import { type Terminal, table } from '../output/terminal.ts';
import { actOnRun } from '../read-runs.ts';

const columns = [
  ...['run', 'policy', 'account', 'since', 'expires', 'plan', 'why', 'destructive'],
  ...['batches.from', 'batches.to', 'batches.of', 'targets', 'requests', 'may_not'],
];

/** Shows the runs that wait. */
export const listApprovals = (terminal: Terminal, options: GlobalOptions): Promise<number> =>
  withReader('records', terminal, options, async ({ read }) => {
    const { approvals: waiting } = await read(list, {}, { approvals: [] });
    const text = () => {
      if (waiting.length === 0) {
        terminal.message('No run waits for an approval.');
        return;
      }
      const cells = waiting.map(({ run, targets, requests, expires, why }) => [
        run,
        String(targets),
        String(requests ?? ''),
        isoMinute(Date.parse(expires)),
        why,
      ]);
      terminal.data(table(['run', 'targets', 'requests', 'expires', 'why'], cells, terminal.paint));
      terminal.message(
        'Look at one: caretaker runs show <run>. Decide: caretaker approvals approve|reject <run>.',
      );
    };
    await show(terminal, options, { value: waiting, columns, text });
    return exit.ok;
  });

interface DecisionOptions extends GlobalOptions, ReasonOption {
  batch?: number;
  target?: string[];
  plan?: string;
}

/** What is sent with a decision. */
const decisionOf = ({ batch, target, plan, reason }: DecisionOptions) => ({
  reason,
  plan,
  ...(batch === undefined ? {} : { batch }),
  ...(target ? { targets: target } : {}),
});

export const approveRun = (terminal: Terminal, word: string, options: DecisionOptions): Promise<number> =>
  withClient('caretaker', terminal, options, (client) =>
    actOnRun(client, approve, { word, input: decisionOf(options) }, terminal, (run) => {
      const others = options.target ? ' The other targets are not done (not-approved).' : '';
      return `${run.id} is approved: ${countOf(openTargets(run), 'target')} to do.${others}`;
    }),
  );

export const rejectRun = (terminal: Terminal, word: string, options: DecisionOptions): Promise<number> =>
  withClient('caretaker', terminal, options, (client) =>
    actOnRun(client, reject, { word, input: decisionOf(options) }, terminal, (run) =>
      isFinal(run.status) || lastApproval(run)?.decided !== undefined
        ? `${run.id} is rejected: nothing of it is done.`
        : `Rejected. ${run.id} waits on with ${countOf(openTargets(run), 'target')}.`,
    ),
  );
