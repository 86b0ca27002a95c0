import { version } from '../../app/version.ts';
import { isoMinute } from '../../clock.ts';
import { planPolicy, type SavePlanDeps, savePlan } from '../../control/commands/plan-policy.ts';
import { toPreview } from '../../engine/plan/plan-report.ts';
import type { Preview } from '../../engine/plan/preview.ts';
import { checkSavedPlan, EXPIRES, expiryOf, type SavedPlan } from '../../engine/plan/saved-plan.ts';
import type { Policy } from '../../policy/policy.ts';
import { accountOf } from '../../settings/account.ts';
import type { Settings } from '../../settings/settings.ts';
import { countOf } from '../../text.ts';
import { shortFile } from '../../yaml/diagnostic.ts';
import { isOnServer, withClient } from '../client.ts';
import { type GlobalOptions, policyNamed, settingsOf } from '../context.ts';
import { exit, explain, UsageError } from '../exit.ts';
import { clockOf } from '../io.ts';
import { isForPeople, show } from '../output/show.ts';
import { showPlan } from '../output/show-plan.ts';
import { printSavedPlan } from '../output/show-saved-plan.ts';
import type { Terminal } from '../output/terminal.ts';
import { atOf } from '../parse-time.ts';
import { policyOnServer } from '../read-policies.ts';
import { checkPlanFile, readSavedPlan, writeSavedPlan } from '../saved-plan-file.ts';

interface PlanOptions extends GlobalOptions {
  target?: string[];
  /** Print every target on its own line, in place of the first 50 and of groups. */
  all?: boolean;
}

interface SavingOptions {
  /** The file to save the plan in. */
  out?: string;
  expires?: string;
  /** Show this saved plan. */
  show?: string;
  detailedExitcode?: true;
}

/** Shows what a policy would do, and saves it with `--out`. Costs the requests of planning, and changes nothing. */
export async function plan(
  terminal: Terminal,
  name: string | undefined,
  options: PlanOptions & SavingOptions & { inventory?: string; at?: string },
): Promise<number> {
  return planExitCode(terminal, options, () => planned(terminal, name, options));
}

/** The exit code of a plan, by its content with `--detailed-exitcode`. */
async function planExitCode(
  terminal: Terminal,
  { detailedExitcode }: Pick<SavingOptions, 'detailedExitcode'>,
  planning: () => Promise<Planned>,
): Promise<number> {
  if (!detailedExitcode) return (await planning()).code;
  try {
    const { hasWork, code } = await planning();
    return code === exit.ok && hasWork ? exit.badInput : code;
  } catch (error) {
    explain(error, terminal);
    return exit.notAllWell;
  }
}

/** What was planned: `hasWork` says whether applying it would do anything. */
interface Planned {
  code: number;
  hasWork: boolean;
}

async function planned(
  terminal: Terminal,
  name: string | undefined,
  options: PlanOptions & SavingOptions & { inventory?: string; at?: string },
): Promise<Planned> {
  const { inventory, out, show: file, expires } = options;
  if (file !== undefined) return showFile(terminal, file, name, options);
  if (name === undefined)
    throw new UsageError('Name the policy to plan, or a file with a saved plan: --show FILE.');
  checkOptions(options);
  if (isOnServer(terminal, options)) {
    if (inventory !== undefined)
      throw new UsageError(
        'A plan over an inventory needs no server: omit --server, and unset CARETAKER_SERVER.',
      );
    if (out !== undefined) needExpiry(expires);
    return plannedBy(terminal, name, undefined, options);
  }
  const settings = settingsOf(terminal, options);
  const policy = await policyNamed(name, settings, terminal);
  if (inventory !== undefined) return planOver(terminal, policy, settings, { ...options, inventory });
  const { baseUrl } = accountOf(settings, policy.account);
  if (out !== undefined) needExpiry(expires);
  return plannedBy(
    terminal,
    name,
    { policy: () => policy, needAccount: () => ({ baseUrl }), version },
    options,
  );
}

/** Plans with the service. `more`: what that needs in this process. */
async function plannedBy(
  terminal: Terminal,
  name: string,
  more: Pick<SavePlanDeps, 'policy' | 'needAccount' | 'version'> | undefined,
  options: PlanOptions & SavingOptions,
): Promise<Planned> {
  const { out, expires, target } = options;
  // Before any request is spent.
  if (out !== undefined) checkPlanFile(out);
  let found: Planned = { code: exit.ok, hasWork: false };
  await withClient('caretaker', terminal, options, async (client) => {
    if (client.server !== undefined) await policyOnServer(client, name);
    const input = { policy: name, ...(target && { target }) };
    if (out === undefined) {
      const preview = toPreview(await client.read(planPolicy, input, noPlan, more));
      await showPlan(preview, terminal, options);
      found = { code: exit.ok, hasWork: preview.targets.length > 0 };
    } else {
      const answer = await client.read(savePlan, { ...input, expires }, noPlan, more);
      const saved = checkSavedPlan(answer.saved, `What ${client.server ?? 'was planned'} sent`);
      found = await saveAndShow({ saved, preview: toPreview(answer.plan) }, out, terminal, options);
    }
    return found.code;
  });
  return found;
}

const noPlan = (): never => {
  throw new Error('A command that plans opens the records.');
};

/** @throws {UsageError} for options that need others. */
function checkOptions({
  inventory,
  at,
  out,
  expires,
}: SavingOptions & { inventory?: string; at?: string }): void {
  if (expires !== undefined && out === undefined)
    throw new UsageError('--expires is for a plan that is saved: give --out too.');
  if (inventory !== undefined && out !== undefined)
    throw new UsageError('A plan over a saved inventory cannot be applied, so --out cannot be used with it.');
  if (at !== undefined && inventory === undefined)
    throw new UsageError('--at is for a plan over a saved inventory: give --inventory too.');
}

/** Saves a plan in a file, and shows it. */
async function saveAndShow(
  { saved, preview }: { saved: SavedPlan; preview: Preview },
  out: string,
  terminal: Terminal,
  options: PlanOptions,
): Promise<Planned> {
  writeSavedPlan(out, saved);
  await showPlan(preview, terminal, options, { file: out, hash: saved.hash, expires_at: saved.expires_at });
  if (isForPeople(options)) printSaved(terminal, saved, out);
  return { code: exit.ok, hasWork: saved.targets.some(({ requests }) => requests.length > 0) };
}

function printSaved({ message }: Terminal, { totals, expires_at }: SavedPlan, file: string): void {
  const what = `${countOf(totals.requests, 'request')} for ${countOf(totals.targets, 'target')}`;
  message(`Saved as ${shortFile(file)}: ${what}. It can be applied until ${isoMinute(expires_at)}.`);
  if (totals.targets > 0) message(`Apply exactly this: caretaker apply ${shortFile(file)}`);
}

/** @throws {UsageError} */
function needExpiry(text: string = EXPIRES): void {
  if (expiryOf(text) === undefined)
    throw new UsageError(`--expires must be a duration from 1s to 30d, such as 3d, not "${text}".`);
}

/** Shows a saved plan. Uses neither the service nor Redis. */
async function showFile(
  terminal: Terminal,
  file: string,
  name: string | undefined,
  { all, output, out, inventory, target }: PlanOptions & SavingOptions & { inventory?: string },
): Promise<Planned> {
  if (name !== undefined || out !== undefined || inventory !== undefined || target !== undefined)
    throw new UsageError('--show only shows a saved plan: give the file and nothing else.');
  const saved = readSavedPlan(file);
  await show(
    terminal,
    { output },
    {
      value: saved,
      rows: saved.targets,
      columns: ['id', 'label', 'requests', 'preconditions', 'cost'],
      text: () => printSavedPlan(saved, terminal, all ? { rows: Number.POSITIVE_INFINITY } : {}),
    },
  );
  return { code: exit.ok, hasWork: saved.targets.some(({ requests }) => requests.length > 0) };
}

/** Shows what a policy would do with the content of an inventory. Uses neither the service nor Redis. */
async function planOver(
  terminal: Terminal,
  policy: Policy,
  settings: Settings,
  { inventory: file, at, target, ...options }: PlanOptions & { inventory: string; at?: string },
): Promise<Planned> {
  const [{ readInventory }, { planOverInventory }, { usualBudget }, { loadJobs }] = await Promise.all([
    import('../../offline/inventory/file.ts'),
    import('../../offline/inventory/inventory.ts'),
    import('../../offline/offline-plan.ts'),
    import('../../app/load-jobs.ts'),
  ]);
  const now = atOf(at, clockOf(terminal.io).now());
  const inventory = readInventory(file);
  const budget = settings.accounts[policy.account]?.budget ?? usualBudget;
  const over = { inventory, name: shortFile(file), registry: await loadJobs(), budget };
  const preview = await planOverInventory(policy, { ...over, ...(now === undefined ? {} : { now }) }, target);
  if (inventory.account !== policy.account)
    terminal.message(
      `The inventory is from the account "${inventory.account}", but the policy is for "${policy.account}".`,
    );
  terminal.message(
    `Planned with ${shortFile(file)} (saved ${isoMinute(inventory.savedAt)}) for the time ${isoMinute(now ?? inventory.savedAt)}. Earlier runs are not taken into account.`,
  );
  await showPlan(preview, terminal, options);
  return { code: exit.ok, hasWork: preview.targets.length > 0 };
}
