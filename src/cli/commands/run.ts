import type { Caretaker } from '../../app/caretaker.ts';
import type { Run } from '../../run/run.ts';
import { accountOf } from '../../settings/account.ts';
import { attend } from '../attend.ts';
import { type GlobalOptions, policyNamed, settingsOf, withCaretaker } from '../context.ts';
import { exit, UsageError } from '../exit.ts';
import type { Terminal } from '../terminal.ts';
import { plan } from './plan.ts';

/** Fires a policy now. Works until the run has ended, unless the work is left to the daemon. */
export async function run(
  terminal: Terminal,
  name: string,
  options: GlobalOptions & { dryRun?: boolean; target?: string[]; detach?: boolean },
): Promise<number> {
  if (options.dryRun) return plan(terminal, name, options);
  const settings = settingsOf(options);
  const policy = await policyNamed(name, settings, terminal);
  accountOf(settings, policy.account);
  return withCaretaker(options, settings, async (caretaker) => {
    if (options.detach) await needWorker(caretaker);
    const only = options.target ? { only: options.target } : {};
    const fired = await caretaker.engine.fire(policy, {
      trigger: 'manual',
      scheduledFor: caretaker.clock.now(),
      ...only,
    });
    if (options.detach) return leave(fired, terminal, options);
    return attend(caretaker, fired, terminal, { json: options.json, callOffIfRefused: true });
  });
}

/** @throws {UsageError} when nobody is there who could do the work. */
export async function needWorker(caretaker: Caretaker): Promise<void> {
  const here = await caretaker.records.presence.here(caretaker.clock.now());
  if (here.some(({ roles }) => roles.includes('worker'))) return;
  throw new UsageError(
    'No daemon is at work on this Redis: start one ("caretaker daemon"), or leave out --detach.',
  );
}

/** Prints the run's id and leaves it to the daemon. */
export function leave(fired: Run, terminal: Terminal, { json }: GlobalOptions): number {
  if (json) terminal.json({ run: fired.id, status: fired.status });
  else terminal.data(fired.id);
  return exit.ok;
}
