import type { Caretaker } from '../../app/caretaker.ts';
import { isoMinute } from '../../clock.ts';
import { jobOf } from '../../policy/job-of.ts';
import type { Policy } from '../../policy/policy.ts';
import { pauseAt } from '../../records/policy-store.ts';
import type { Run } from '../../run/run.ts';
import { accountOf } from '../../settings/account.ts';
import type { Settings } from '../../settings/settings.ts';
import { countOf } from '../../text.ts';
import { InvalidFilesError } from '../../yaml/diagnostic.ts';
import { findActiveProcess, formatRunCommands, needWorker } from '../active-process.ts';
import {
  type GlobalOptions,
  hasRecords,
  policyNamed,
  settingsOf,
  withCaretaker,
  withRecords,
} from '../context.ts';
import { keptByDaemons } from '../effective-policies.ts';
import { exit, UsageError } from '../exit.ts';
import { formatPause } from '../output/pause.ts';
import { showReport } from '../output/run-report.ts';
import { show } from '../output/show.ts';
import { outOf } from '../output/show-run.ts';
import type { Terminal } from '../output/terminal.ts';
import { watchRun } from '../watch-run.ts';
import { plan } from './plan.ts';

/** Fires a policy now. Works until the run has ended, unless `--detach` leaves the work to the daemon. */
export async function run(
  terminal: Terminal,
  name: string,
  options: GlobalOptions & { dryRun?: boolean; target?: string[]; detach?: boolean; ignoreFreeze?: true },
): Promise<number> {
  if (options.dryRun) return plan(terminal, name, options);
  const settings = settingsOf(options);
  const policy = await policyNamed(name, settings, terminal).catch(async (error: unknown) => {
    if (error instanceof InvalidFilesError) await printKept(name, settings, options, terminal);
    throw error;
  });
  accountOf(settings, policy.account);
  return withCaretaker(options, settings, async (caretaker) => {
    const { records, clock, engine } = caretaker;
    if (options.detach) await needWorker(caretaker);
    const pause = pauseAt(await records.policies.state(name), clock.now());
    if (pause)
      terminal.message(`${name} is ${formatPause(pause)}. It runs anyway, because you requested it.`);
    if (options.target) await checkTargets(caretaker, policy, options.target, terminal);
    const fireOptions = {
      ...(options.target ? { only: options.target } : {}),
      ...(options.ignoreFreeze ? { ignoreFreeze: true as const } : {}),
    };
    const fired = await engine.fire(policy, { trigger: 'manual', scheduledFor: clock.now(), ...fireOptions });
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
  const kept = await withRecords(options, settings, ({ records, clock }) =>
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
  const started = { run: fired.id, status: fired.status };
  if (fired.status === 'skipped') {
    const nothing = { targets: [], text: () => undefined };
    await (detach
      ? show(terminal, { output }, { value: started, ...nothing })
      : showReport(terminal, { output }, { run: fired, ...nothing }));
    await printActiveRun(caretaker, fired, terminal);
    return exit.notAllWell;
  }
  if (!detach) return watchRun(caretaker, fired, terminal, { output, targetsNamed, cancelIfRefused: true });
  await show(terminal, { output }, { value: started, text: () => terminal.data(fired.id) });
  return exit.ok;
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
async function checkTargets(
  { engine, registry }: Caretaker,
  policy: Policy,
  named: readonly string[],
  terminal: Terminal,
): Promise<void> {
  if (named.length > MAX_CHECKED || jobOf(registry, policy)?.prepare) return;
  const { unselected, ended } = await engine.preview(policy, named);
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
async function printActiveRun(caretaker: Caretaker, fired: Run, terminal: Terminal): Promise<void> {
  const active = await caretaker.records.runs.active(fired.account);
  const other = active.find((run) => run.policy === fired.policy);
  const { paint, message } = terminal;
  if (!other) {
    message(`${fired.policy} was skipped: ${fired.detail ?? 'another run of it was active.'}`);
    message('That run has ended in the meantime. Run the policy again.');
    return;
  }
  const activeProcess = await findActiveProcess(caretaker, other.account);
  const worker = activeProcess ? `${activeProcess} works on it` : 'no process works on it';
  message(
    `${paint('yellow', `${fired.policy} was skipped`)}: its run ${other.id} has not ended (${other.status}, ${outOf(other, terminal)}), and ${worker}.`,
  );
  message(formatRunCommands(other, activeProcess));
}
