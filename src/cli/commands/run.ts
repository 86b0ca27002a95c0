import type { Caretaker } from '../../app/caretaker.ts';
import { isoMinute } from '../../clock.ts';
import { findActiveProcess } from '../../control/active-process.ts';
import { carryOut } from '../../control/carry-out.ts';
import { runPolicy } from '../../control/commands/run-policy.ts';
import type { Preview } from '../../engine/plan/preview.ts';
import type { AnyJob } from '../../job/job.ts';
import { jobOf } from '../../policy/policy-job.ts';
import { pauseAt } from '../../records/policy-store.ts';
import type { Run } from '../../run/run.ts';
import { accountOf } from '../../settings/account.ts';
import type { Settings } from '../../settings/settings.ts';
import { countOf } from '../../text.ts';
import { InvalidFilesError } from '../../yaml/diagnostic.ts';
import { formatRunCommands, needWorker } from '../active-process.ts';
import {
  type GlobalOptions,
  hasRecords,
  policyToStart,
  type ReasonOption,
  settingsOf,
  withCaretaker,
  withRecords,
} from '../context.ts';
import { keptByDaemons } from '../effective-policies.ts';
import { exit, UsageError } from '../exit.ts';
import { localActor } from '../local-actor.ts';
import { formatPause } from '../output/pause.ts';
import { showReport } from '../output/run-report.ts';
import { type OutputOption, show } from '../output/show.ts';
import { outOf } from '../output/show-run.ts';
import type { Terminal } from '../output/terminal.ts';
import { watchRun } from '../watch-run.ts';
import { plan } from './plan.ts';

/** Fires a policy now. Works until the run has ended, unless `--detach` leaves the work to the daemon. */
export async function run(
  terminal: Terminal,
  name: string,
  options: GlobalOptions &
    ReasonOption & { dryRun?: boolean; target?: string[]; detach?: boolean; ignoreFreeze?: true },
): Promise<number> {
  if (options.dryRun) return plan(terminal, name, options);
  const settings = settingsOf(terminal, options);
  const policy = await policyToStart(name, settings, terminal).catch(async (error: unknown) => {
    if (error instanceof InvalidFilesError) await printKept(name, settings, options, terminal);
    throw error;
  });
  accountOf(settings, policy.account);
  return withCaretaker(terminal, options, settings, async (caretaker) => {
    const { records, clock } = caretaker;
    if (options.detach) await needWorker(caretaker);
    const pause = pauseAt(await records.policies.state(name), clock.now());
    if (pause)
      terminal.message(`${name} is ${formatPause(pause)}. It runs anyway, because you requested it.`);
    if (options.target)
      await checkTargets(
        { name, job: jobOf(caretaker.registry, policy) },
        options.target,
        () => caretaker.engine.preview(policy, options.target),
        terminal,
      );
    const deps = { ...caretaker, policy: () => policy, needAccount: () => undefined };
    const input = {
      policy: name,
      targets: options.target,
      ignore_freeze: options.ignoreFreeze,
      reason: options.reason,
    };
    const fired = await carryOut(runPolicy, deps, input, localActor());
    return watchOrDetach(caretaker, fired, terminal, {
      ...options,
      targetsNamed: options.target !== undefined,
    });
  });
}

/** If a daemon keeps a policy active although its file has errors, prints that. */
async function printKept(
  name: string,
  settings: Settings,
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

/** Works on a run until it has ended, or leaves it to the daemon. If it was skipped, prints why. */
export async function watchOrDetach(
  caretaker: Caretaker,
  fired: Run,
  terminal: Terminal,
  { output, detach, targetsNamed = false }: GlobalOptions & { detach?: boolean; targetsNamed?: boolean },
): Promise<number> {
  if (fired.status === 'skipped') {
    const [other] = await caretaker.records.runs.active(fired.account, { policy: fired.policy });
    const activeProcess = other && (await findActiveProcess(caretaker, other.account));
    return showSkipped(fired, other && { run: other, activeProcess }, terminal, { output, detach });
  }
  if (detach) return showStarted(fired, terminal, { output });
  return watchRun(caretaker, fired, terminal, { output, targetsNamed, cancelIfRefused: true });
}

type DetachOptions = OutputOption & { detach?: boolean | undefined };

const startedReport = ({ id, status }: Run) => ({ run: id, status });

/** Shows a run whose work is left to a daemon. */
export async function showStarted(run: Run, terminal: Terminal, options: OutputOption): Promise<number> {
  await show(terminal, options, { value: startedReport(run), text: () => terminal.data(run.id) });
  return exit.ok;
}

/** Shows a run that was skipped; `other` is the active run that prevented it, if it is still active. */
export async function showSkipped(
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
 * Prints which of the named targets the policy does not select, before a run is created. Skipped when that
 * would cost many requests: for many targets, or a job that reads the whole account first. Then the run
 * reports it.
 *
 * @throws {UsageError} when the policy selects none of them.
 */
export async function checkTargets(
  policy: { name: string; job: Pick<AnyJob, 'prepare'> | undefined },
  named: readonly string[],
  preview: () => Promise<Pick<Preview, 'unselected' | 'ended'>>,
  terminal: Terminal,
): Promise<void> {
  if (named.length > MAX_CHECKED || policy.job?.prepare) return;
  const { unselected, ended } = await preview();
  if (unselected.length === 0) return;
  const lines = ended.flatMap(({ id, why }) => (unselected.includes(id) ? [`\n  ${id}: ${why}`] : []));
  if (unselected.length < new Set(named).size) {
    terminal.message(
      `${policy.name} does not select ${countOf(unselected.length, 'target')} of those that you named:${lines.join('')}`,
    );
    return;
  }
  throw new UsageError(
    `${policy.name} selects none of the targets that you named. No run was started.${lines.join('')}\n"caretaker plan ${policy.name}" lists what it selects.`,
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
