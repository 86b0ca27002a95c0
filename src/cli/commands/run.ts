import type { Caretaker } from '../../app/caretaker.ts';
import { isoMinute } from '../../clock.ts';
import type { Policy } from '../../policy/policy.ts';
import { pauseAt } from '../../records/policy-store.ts';
import { toReport } from '../../run/report.ts';
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
import { outOf } from '../output/show-run.ts';
import type { Terminal } from '../output/terminal.ts';
import { watchRun } from '../watch-run.ts';
import { plan } from './plan.ts';

/** Fires a policy now. Works until the run has ended, unless the work is left to the daemon. */
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
      terminal.message(`${name} is ${formatPause(pause)}. It is run anyway, because you asked for it.`);
    if (options.target) await checkTargets(caretaker, policy, options.target, terminal);
    const asked = {
      ...(options.target ? { only: options.target } : {}),
      ...(options.ignoreFreeze ? { ignoreFreeze: true as const } : {}),
    };
    const fired = await engine.fire(policy, { trigger: 'manual', scheduledFor: clock.now(), ...asked });
    return goOn(caretaker, fired, terminal, { ...options, named: options.target !== undefined });
  });
}

/** Prints that a daemon still fires a policy whose file has errors, if one does. */
async function printKept(
  name: string,
  settings: Settings,
  options: GlobalOptions,
  terminal: Terminal,
): Promise<void> {
  if (!hasRecords(settings)) return;
  // The error in the file is reported also when Redis cannot be reached.
  const kept = await withRecords(options, settings, ({ records, clock }) =>
    keptByDaemons(records, clock.now()),
  ).catch(() => []);
  const one = kept.find((policy) => policy.name === name);
  if (one) {
    terminal.message(
      `Nothing was run: the file of ${name} is broken, as follows. The daemon still fires its last good version, read at ${isoMinute(one.readAt)}.`,
    );
  }
}

/**
 * What follows when a person has fired a run: it is attended to its end, left to the daemon, or was skipped.
 */
export async function goOn(
  caretaker: Caretaker,
  fired: Run,
  terminal: Terminal,
  { json, detach, named = false }: { json?: boolean; detach?: boolean; named?: boolean },
): Promise<number> {
  if (fired.status === 'skipped') {
    if (json) terminal.json(detach ? { run: fired.id, status: fired.status } : toReport(fired, []));
    await printActiveRun(caretaker, fired, terminal);
    return exit.notAllWell;
  }
  if (!detach) return watchRun(caretaker, fired, terminal, { json, named, cancelIfRefused: true });
  if (json) terminal.json({ run: fired.id, status: fired.status });
  else terminal.data(fired.id);
  return exit.ok;
}

/** At most so many names are checked before the run is made: each costs a request. */
const MAX_CHECKED = 10;

/**
 * Looks the named targets up before anything is made, where that costs little; says which of them the policy
 * does not select. With many, or a job that surveys the account first, the run itself finds out.
 *
 * @throws {UsageError} when it selects none of them.
 */
async function checkTargets(
  { engine, registry }: Caretaker,
  policy: Policy,
  named: readonly string[],
  terminal: Terminal,
): Promise<void> {
  if (named.length > MAX_CHECKED || registry.get(policy.job)?.prepare) return;
  const { unselected, ended } = await engine.preview(policy, named);
  if (unselected.length === 0) return;
  const lines = ended.flatMap(({ id, why }) => (unselected.includes(id) ? [`\n  ${id}: ${why}`] : []));
  if (unselected.length < new Set(named).size) {
    terminal.message(
      `${countOf(unselected.length, 'target')} of those you named will not be worked on:${lines.join('')}`,
    );
    return;
  }
  throw new UsageError(
    `None of the targets you named is selected by ${policy.name}; no run was started.${lines.join('')}\n"caretaker plan ${policy.name}" lists what it selects.`,
  );
}

/** Prints which run of the policy is active, which process works on it, and what can be done. */
async function printActiveRun(caretaker: Caretaker, fired: Run, terminal: Terminal): Promise<void> {
  const active = await caretaker.records.runs.active(fired.account);
  const other = active.find((run) => run.policy === fired.policy);
  const { paint, message } = terminal;
  if (!other) {
    message(`${fired.policy} was not run: ${fired.detail ?? 'another run of it was under way.'}`);
    message('That run has ended meanwhile: run it again.');
    return;
  }
  const activeProcess = await findActiveProcess(caretaker, other.account);
  const who = activeProcess ? `${activeProcess} works on it` : 'no process works on it';
  message(
    `${paint('yellow', `${fired.policy} was not run`)}: its run ${other.id} has not ended (${other.status}, ${outOf(other, terminal)}), and ${who}.`,
  );
  message(formatRunCommands(other, activeProcess));
}
