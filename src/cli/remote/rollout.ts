/** Approvals and rollouts of runs, on a server. */
import { type DecisionOptions, decisionOf, printApproved, printRejected } from '../commands/approvals.ts';
import { printResumed, printSkipped } from '../commands/rollout.ts';
import type { ReasonOption } from '../context.ts';
import type { Terminal } from '../output/terminal.ts';
import { actOnRun } from './act-on-run.ts';
import type { Server } from './server.ts';

/** Approves a run; the daemon of the server works on it. */
export const approveRun = (
  terminal: Terminal,
  server: Server,
  [word = '']: string[],
  options: DecisionOptions,
): Promise<number> =>
  actOnRun(server, { command: 'approve', input: decisionOf(options) }, word, (acted) =>
    printApproved(acted, terminal, options),
  );

/** Rejects a run, one of its batches or some targets. */
export const rejectRun = (
  terminal: Terminal,
  server: Server,
  [word = '']: string[],
  options: DecisionOptions,
): Promise<number> =>
  actOnRun(server, { command: 'reject', input: decisionOf(options) }, word, ({ run }) =>
    printRejected(run, terminal),
  );

type ChangeRollout = (
  terminal: Terminal,
  server: Server,
  args: string[],
  options: ReasonOption,
) => Promise<number>;

/** A command about the rollout of a run, with a reason. */
const changeWith =
  (command: string, print: typeof printSkipped): ChangeRollout =>
  (terminal, server, [word = ''], { reason }) =>
    actOnRun(server, { command, input: { reason } }, word, (acted) => print(acted, terminal));

/** Ends the pause of a rollout. */
export const skipPause = changeWith('skip-pause', printSkipped);
/** Begins the next batch of a rollout, or starts a new run over what its gate stopped. */
export const resumeRun = changeWith('resume', printResumed);
