import { applyPlan, checkPlan, type Definition } from '../../control/commands/apply-plan.ts';
import { runIdOf } from '../../engine/plan/apply-plan.ts';
import type { SavedPlan } from '../../engine/plan/saved-plan.ts';
import { isFinal } from '../../run/moves.ts';
import { accountOf } from '../../settings/account.ts';
import { countOf } from '../../text.ts';
import { shortFile } from '../../yaml/diagnostic.ts';
import { isAskable, isConfirmed } from '../ask.ts';
import { isOnServer, withClient } from '../client.ts';
import { type GlobalOptions, policiesOf, type ReasonOption, settingsOf } from '../context.ts';
import { exit, UsageError } from '../exit.ts';
import { isForPeople } from '../output/show.ts';
import { MAX_ROWS, printSavedPlan } from '../output/show-saved-plan.ts';
import type { Terminal } from '../output/terminal.ts';
import { readSavedPlan } from '../saved-plan-file.ts';
import { start } from './run.ts';
import { resume } from './runs-act.ts';

interface ApplyOptions extends GlobalOptions, ReasonOption {
  yes?: boolean;
  all?: boolean;
  detach?: boolean;
  ignoreFreeze?: true;
}

/**
 * Applies a saved plan, and follows its run to the end. Asks first at a terminal, unless `--yes` is given. The run of an
 * `apply` that was interrupted is continued. A server checks the plan before anybody is asked, and again when it is
 * applied: its policy has to be defined there as in the plan, unless an admin without limits applies it.
 */
export async function apply(terminal: Terminal, file: string, options: ApplyOptions): Promise<number> {
  const saved = readSavedPlan(file);
  const settings = isOnServer(terminal, options) ? undefined : settingsOf(terminal, options);
  if (settings) accountOf(settings, saved.account.name);
  needAskable(file, terminal, options);
  return withClient('caretaker', terminal, options, async (client) => {
    const { here } = client;
    const begun = await here?.records.runs.get(runIdOf(saved));
    if (begun && !isFinal(begun.status) && !options.detach) {
      terminal.message(
        `The plan was applied before, and its run ${begun.id} is not over (${begun.status}): it is continued.`,
      );
      return resume(client, begun, terminal, options);
    }
    const own =
      settings && (await policiesOf(settings)).policies.find(({ name }) => name === saved.policy.name);
    const more = settings && {
      policy: () => own,
      needAccount: (name: string) => accountOf(settings, name) as { baseUrl: string },
    };
    const plan = { ...saved };
    const checked = await client.read(checkPlan, { plan }, { policy: 'missing' as Definition }, more);
    if (!(await isAgreed(saved, checked.policy, terminal, options))) return exit.notAllWell;
    return start(client, applyPlan, { plan }, { terminal, options, more });
  });
}

/** @throws {UsageError} when a person has to be asked, and no one can be. */
function needAskable(file: string, terminal: Terminal, { yes }: ApplyOptions): void {
  if (!yes && !isAskable(terminal))
    throw new UsageError(
      `Nothing was applied: there is no terminal to ask for confirmation. "caretaker plan --show ${shortFile(file)}" shows the plan; --yes applies it without asking.`,
    );
}

/** Shows the plan, and asks whether it is applied, unless `--yes` is given. */
async function isAgreed(
  saved: SavedPlan,
  definition: Definition,
  terminal: Terminal,
  options: ApplyOptions,
): Promise<boolean> {
  // A person who applies a plan with --yes has seen it.
  const rows = options.all ? Number.POSITIVE_INFINITY : options.yes ? 0 : MAX_ROWS;
  if (isForPeople(options)) printSavedPlan(saved, terminal, { rows });
  noteChangedPolicy(saved, definition, terminal);
  if (options.yes || (await isConfirmed(questionOf(saved), 'Nothing was applied.', terminal))) return true;
  terminal.message('Nothing was applied.');
  return false;
}

const questionOf = ({ totals }: SavedPlan): string =>
  `Send ${countOf(totals.requests, 'request')} for ${countOf(totals.targets, 'target')}? Only "yes" applies the plan: `;

/** The policy may have changed since the plan was made. The plan is what a person has seen, so it is applied as it is. */
function noteChangedPolicy({ policy }: SavedPlan, definition: Definition, { message }: Terminal): void {
  if (definition === 'missing')
    message(`There is no policy ${policy.name} any more. The plan is applied with the policy as it was.`);
  if (definition === 'changed')
    message(
      `The policy ${policy.name} has changed since the plan was made. The plan is applied as it is; the change takes effect with the next plan or run.`,
    );
}
