import type { Caretaker } from '../../app/caretaker.ts';
import { loadJobs } from '../../app/load-jobs.ts';
import { isoMinute } from '../../clock.ts';
import type { AnyCommand } from '../../control/command.ts';
import { showPolicyReport } from '../../control/commands/list-policies.ts';
import { listRunsCommand } from '../../control/commands/list-runs.ts';
import { planPolicy } from '../../control/commands/plan-policy.ts';
import { runPolicy } from '../../control/commands/run-policy.ts';
import { toPreview } from '../../engine/plan/plan-report.ts';
import type { Policy } from '../../policy/policy.ts';
import { jobOf } from '../../policy/policy-job.ts';
import { toRun } from '../../run/from-report.ts';
import type { RunSummary } from '../../run/report.ts';
import type { Run } from '../../run/run.ts';
import { accountOf } from '../../settings/account.ts';
import { countOf } from '../../text.ts';
import { InvalidFilesError } from '../../yaml/diagnostic.ts';
import { formatRunCommands, needWorker } from '../active-process.ts';
import { type Client, isOnServer, withClient } from '../client.ts';
import {
  type GlobalOptions,
  hasRecords,
  policyToStart,
  type ReasonOption,
  settingsOf,
  withRecords,
} from '../context.ts';
import { keptByDaemons } from '../effective-policies.ts';
import { exit, UsageError } from '../exit.ts';
import { followToEnd } from '../follow-run.ts';
import { pauseIn } from '../from-answers.ts';
import { formatPause } from '../output/pause.ts';
import { type OutputOption, show } from '../output/show.ts';
import { outOf, showReport } from '../output/show-run.ts';
import type { Terminal } from '../output/terminal.ts';
import { policyOnServer } from '../read-policies.ts';
import { processOf } from '../read-runs.ts';
import { watchRun } from '../watch-run.ts';
import { plan } from './plan.ts';

interface StartOptions extends GlobalOptions, ReasonOption {
  detach?: boolean;
  ignoreFreeze?: true;
}

/** What commands that start the policy of a file need: it may differ from the one that daemons have. */
export const startable = (policy: Policy) => ({ policy: () => policy, needAccount: () => undefined });

/** Fires a policy now. Works until the run has ended, unless `--detach` or a server leaves the work to the daemon. */
export async function run(
  terminal: Terminal,
  name: string,
  options: StartOptions & { dryRun?: boolean; target?: string[] },
): Promise<number> {
  if (options.dryRun) return plan(terminal, name, options);
  const own = isOnServer(terminal, options) ? undefined : await ownPolicy(name, terminal, options);
  return withClient('caretaker', terminal, options, async (client) => {
    const { here, read } = client;
    if (here && options.detach) await needWorker(here);
    const more = own && startable(own);
    const { paused, job } = own
      ? await read(showPolicyReport, { policy: name }, noRecords, more)
      : await policyOnServer(client, name);
    if (paused)
      terminal.message(
        `${name} is ${formatPause(pauseIn(paused))}. It runs anyway, because you requested it.`,
      );
    const { target } = options;
    const registry = await loadJobs();
    const reads = (own ? jobOf(registry, own) : registry.get(job))?.prepare !== undefined;
    // Skipped for many targets, and for a job that reads the whole account first. Then the run reports it.
    if (target && target.length <= MAX_CHECKED && !reads)
      checkTargets(
        name,
        target,
        toPreview(await read(planPolicy, { policy: name, target }, noRecords, more)),
        terminal,
      );
    const input = { policy: name, ...(target && { targets: target }) };
    return start(client, runPolicy, input, { terminal, options, more, targetsNamed: target !== undefined });
  });
}

const noRecords = (): never => {
  throw new Error('A command that starts a run opens the records.');
};

/** @throws {InvalidFilesError} {UsageError} */
async function ownPolicy(name: string, terminal: Terminal, options: GlobalOptions): Promise<Policy> {
  const settings = settingsOf(terminal, options);
  const policy = await policyToStart(name, settings, terminal).catch(async (error: unknown) => {
    if (error instanceof InvalidFilesError) await printKept(name, settings, options, terminal);
    throw error;
  });
  accountOf(settings, policy.account);
  return policy;
}

/** Starts a run by a command, and works on it or follows it to its end, unless the work is left to the daemon. */
export async function start(
  client: Client<Caretaker>,
  command: AnyCommand,
  input: object,
  {
    terminal,
    options,
    more,
    targetsNamed = false,
  }: { terminal: Terminal; options: StartOptions; more?: object | undefined; targetsNamed?: boolean },
): Promise<number> {
  const { here } = client;
  const { output, detach, ignoreFreeze: ignore_freeze, reason } = options;
  if (here && detach) await needWorker(here);
  const given = { ...input, ignore_freeze, reason, ...(here ? {} : { detach: true }) };
  const answer = (await client.start(command, given, more)) as { run: RunSummary };
  const fired = toRun(answer.run);
  if (fired.status === 'skipped')
    return showSkipped(fired, await activeRunOf(client, fired), terminal, { output, detach });
  if (detach) {
    await show(terminal, { output }, { value: startedReport(fired), text: () => terminal.data(fired.id) });
    return exit.ok;
  }
  return here
    ? watchRun(here, fired, terminal, { output, targetsNamed, cancelIfRefused: true })
    : followToEnd(client, fired, terminal, { output, targetsNamed });
}

/** The active run of the policy of a skipped one, with the process that works on it. */
async function activeRunOf(client: Client<Caretaker>, { policy }: Run) {
  const query = { policy, status: 'active' as const, limit: 1_000 };
  const active = (await client.read(listRunsCommand, query, { runs: [], next: null })).runs.at(-1);
  if (!active) return undefined;
  const run = toRun(active);
  return { run, activeProcess: await processOf(client, run) };
}

/** If a daemon keeps a policy active although its file has errors, prints that. */
async function printKept(
  name: string,
  settings: ReturnType<typeof settingsOf>,
  options: GlobalOptions,
  terminal: Terminal,
): Promise<void> {
  if (!hasRecords(settings)) return;
  // The error in the file must be reported even when Redis cannot be reached.
  const kept = await withRecords(terminal, options, settings, ({ records, clock }) =>
    keptByDaemons(records, clock.now()),
  ).catch(() => []);
  const one = kept.find((policy) => policy.name === name);
  if (one) {
    terminal.message(
      `No run was started, because the file of ${name} has errors (see below). The daemon continues to use the previous version, read at ${isoMinute(one.readAt)}.`,
    );
  }
}

type DetachOptions = OutputOption & { detach?: boolean | undefined };

const startedReport = ({ id, status }: Run) => ({ run: id, status });

/** Shows a run that was skipped; `other` is the active run that prevented it, if it is still active. */
async function showSkipped(
  skipped: Run,
  other: { run: Run; activeProcess: string | undefined } | undefined,
  terminal: Terminal,
  { output, detach }: DetachOptions,
): Promise<number> {
  const nothing = { targets: [], text: () => undefined };
  await (detach
    ? show(terminal, { output }, { value: startedReport(skipped), ...nothing })
    : showReport(terminal, { output }, { run: skipped, ...nothing }));
  printActiveRun(skipped, other, terminal);
  return exit.notAllWell;
}

/** The maximum number of names that are checked before the run is created. Each costs a request. */
const MAX_CHECKED = 10;

/**
 * Prints which of the named targets the policy does not select, before a run is created.
 *
 * @throws {UsageError} when the policy selects none of them.
 */
function checkTargets(
  name: string,
  named: readonly string[],
  { unselected, ended }: ReturnType<typeof toPreview>,
  terminal: Terminal,
): void {
  if (unselected.length === 0) return;
  const lines = ended.flatMap(({ id, why }) => (unselected.includes(id) ? [`\n  ${id}: ${why}`] : []));
  if (unselected.length < new Set(named).size) {
    terminal.message(
      `${name} does not select ${countOf(unselected.length, 'target')} of those that you named:${lines.join('')}`,
    );
    return;
  }
  throw new UsageError(
    `${name} selects none of the targets that you named. No run was started.${lines.join('')}\n"caretaker plan ${name}" lists what it selects.`,
  );
}

/** Prints the active run that prevented this one, which process works on it, and the commands for it. */
function printActiveRun(
  { policy, detail }: Run,
  other: { run: Run; activeProcess: string | undefined } | undefined,
  terminal: Terminal,
): void {
  const { paint, message } = terminal;
  if (!other) {
    message(`${policy} was skipped: ${detail ?? 'another run of it was active.'}`);
    message('That run has ended in the meantime. Run the policy again.');
    return;
  }
  const { run, activeProcess } = other;
  const next =
    run.status === 'awaiting-approval'
      ? 'it waits for an approval'
      : `${activeProcess ?? 'no process'} works on it`;
  message(
    `${paint('yellow', `${policy} was skipped`)}: its run ${run.id} has not ended (${run.status}, ${outOf(run, terminal)}), and ${next}.`,
  );
  message(formatRunCommands(run, activeProcess));
}
