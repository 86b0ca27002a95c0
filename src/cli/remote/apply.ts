import type { Definition } from '../../control/commands/apply-plan.ts';
import { type ApplyOptions, isAgreed, needAskable } from '../commands/apply.ts';
import { exit } from '../exit.ts';
import type { Terminal } from '../output/terminal.ts';
import { readSavedPlan } from '../saved-plan-file.ts';
import { start } from './runs.ts';
import type { Server } from './server.ts';

/**
 * Applies a saved plan on the server, and follows its run. The server checks it before anybody is asked, and again
 * when it is applied: its policy has to be defined there as in the plan, unless an admin without limits applies it.
 */
export async function apply(
  terminal: Terminal,
  server: Server,
  [file = '']: string[],
  options: ApplyOptions,
): Promise<number> {
  const saved = readSavedPlan(file);
  needAskable(file, terminal, options);
  const { policy } = await server.post<{ policy: Definition }>('/plans/check', { plan: saved });
  if (!(await isAgreed(saved, policy, terminal, options))) return exit.notAllWell;
  return start(terminal, server, '/plans/apply', { ...options, body: { plan: saved } });
}
