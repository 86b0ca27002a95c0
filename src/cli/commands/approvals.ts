/** Lists the runs that wait for an approval, and approves or rejects them. */
import { isoMinute } from '../../clock.ts';
import {
  approveRun as approve,
  listApprovals as list,
  openTargets,
  rejectRun as reject,
  type toApprovalAnswer,
} from '../../control/commands/approve-run.ts';
import { isFinal } from '../../run/moves.ts';
import { lastApproval } from '../../run/rollout.ts';
import { countOf } from '../../text.ts';
import { withClient, withReader } from '../client.ts';
import type { GlobalOptions, ReasonOption } from '../context.ts';
import { type List, showList } from '../output/list.ts';
import type { Terminal } from '../output/terminal.ts';
import { actOnRun } from '../read-runs.ts';

/** Shows the runs that wait. */
export const listApprovals = (terminal: Terminal, options: GlobalOptions): Promise<number> =>
  withReader('records', terminal, options, async ({ read }) => {
    const { approvals } = await read(list, {}, { approvals: [] });
    return showList(terminal, options, waiting, {
      rows: approvals,
      none: 'No run waits for an approval.',
      below: () =>
        terminal.message(
          'Look at one: caretaker runs show <run>. Decide: caretaker approvals approve|reject <run>.',
        ),
    });
  });

const waiting: List<ReturnType<typeof toApprovalAnswer>> = {
  table: {
    run: ({ run }) => run,
    targets: ({ targets }) => targets,
    requests: ({ requests }) => requests,
    expires: ({ expires }) => isoMinute(expires),
    why: ({ why }) => why,
  },
  csv: [
    'run policy account since expires plan why destructive batches.from batches.to batches.of',
    'targets requests changed.added changed.removed may_not',
  ],
};

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
