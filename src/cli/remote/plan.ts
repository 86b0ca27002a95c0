/** Plans of a server. */
import { type PlanReport, toPreview } from '../../engine/plan/plan-report.ts';
import { checkSavedPlan } from '../../engine/plan/saved-plan.ts';
import {
  checkOptions,
  needExpiry,
  type Planned,
  type PlanOptions,
  planExitCode,
  plan as planHere,
  type SavingOptions,
  saveAndShow,
  showPlan,
} from '../commands/plan.ts';
import { exit, UsageError } from '../exit.ts';
import type { Terminal } from '../output/terminal.ts';
import { pathOf, policyNamed } from './policies.ts';
import type { Server } from './server.ts';

type Options = PlanOptions & SavingOptions & { inventory?: string; at?: string };

/** Shows what a policy of the server would do, and saves it on this machine with `--out`. */
export async function plan(
  terminal: Terminal,
  server: Server,
  [name]: string[],
  options: Options,
): Promise<number> {
  // A saved plan is a file on this machine.
  if (options.show !== undefined || name === undefined) return planHere(terminal, name, options);
  return planExitCode(terminal, options, () => planned(terminal, server, name, options));
}

async function planned(terminal: Terminal, server: Server, name: string, options: Options): Promise<Planned> {
  checkOptions(options);
  const { inventory, out, expires, target } = options;
  if (inventory !== undefined)
    throw new UsageError(
      'A plan over an inventory needs no server: omit --server, and unset CARETAKER_SERVER.',
    );
  if (out !== undefined) needExpiry(expires);
  await policyNamed(server, name);
  if (out === undefined) {
    const preview = toPreview(await server.get<PlanReport>(pathOf(name, 'plan'), { target }));
    await showPlan(preview, terminal, options);
    return { code: exit.ok, hasWork: preview.targets.length > 0 };
  }
  const answer = await server.get<{ saved: unknown; plan: PlanReport }>(pathOf(name, 'saved-plan'), {
    target,
    expires,
  });
  const saved = checkSavedPlan(answer.saved, `What ${server.url} sent`);
  return saveAndShow({ saved, preview: toPreview(answer.plan) }, out, terminal, options);
}
