import { carryOut } from '../../control/carry-out.ts';
import { applyPlan, type Definition, definitionOf } from '../../control/commands/apply-plan.ts';
import { needApplicable, runIdOf } from '../../engine/plan/apply-plan.ts';
import type { SavedPlan } from '../../engine/plan/saved-plan.ts';
import { isFinal } from '../../run/moves.ts';
import { accountOf } from '../../settings/account.ts';
import { countOf } from '../../text.ts';
import { shortFile } from '../../yaml/diagnostic.ts';
import { isAskable, isConfirmed } from '../confirm.ts';
import { type GlobalOptions, policiesOf, type ReasonOption, settingsOf, withCaretaker } from '../context.ts';
import { exit, UsageError } from '../exit.ts';
import { localActor } from '../local-actor.ts';
import { isForPeople } from '../output/show.ts';
import { MAX_ROWS, printSavedPlan } from '../output/show-saved-plan.ts';
import type { Terminal } from '../output/terminal.ts';
import { readSavedPlan } from '../saved-plan-file.ts';
import { watchOrDetach } from './run.ts';
import { continueHere } from './runs-act.ts';

export interface ApplyOptions extends GlobalOptions, ReasonOption {
  yes?: boolean;
  all?: boolean;
  detach?: boolean;
  ignoreFreeze?: true;
}

/**
 * Applies a saved plan, and follows its run to the end. Asks first at a terminal, unless `--yes` is given. The run of an
 * `apply` that was interrupted is continued.
 */
export async function apply(terminal: Terminal, file: string, options: ApplyOptions): Promise<number> {
  const saved = readSavedPlan(file);
  const settings = settingsOf(terminal, options);
  accountOf(settings, saved.account.name);
  needAskable(file, terminal, options);
  return withCaretaker(terminal, options, settings, async (caretaker) => {
    const begun = await caretaker.records.runs.get(runIdOf(saved));
    if (begun && !isFinal(begun.status) && !options.detach) {
      terminal.message(
        `The plan was applied before, and its run ${begun.id} is not over (${begun.status}): it is continued.`,
      );
      return continueHere(caretaker, begun, terminal, options);
    }
    await needApplicable(caretaker, saved);
    const { policies } = await policiesOf(settings);
    const definition = definitionOf(
      saved,
      policies.find(({ name }) => name === saved.policy.name),
    );
    if (!(await isAgreed(saved, definition, terminal, options))) return exit.notAllWell;
    // Who has access to Redis may apply any definition, so no active policy is looked up.
    const deps = {
      ...caretaker,
      policy: () => undefined,
      needAccount: (name: string) => accountOf(settings, name),
    };
    const input = {
      plan: { ...saved },
      ignore_freeze: options.ignoreFreeze,
      detach: options.detach,
      reason: options.reason,
    };
    const fired = await carryOut(applyPlan, deps, input, localActor());
    return watchOrDetach(caretaker, fired, terminal, options);
  });
}

/** @throws {UsageError} when somebody has to be asked, and nobody can be. */
export function needAskable(file: string, terminal: Terminal, { yes }: ApplyOptions): void {
  if (!yes && !isAskable(terminal))
    throw new UsageError(
      `Nothing was applied, because nobody can be asked here. "caretaker plan --show ${shortFile(file)}" shows the plan; --yes applies it without asking.`,
    );
}

/** Shows the plan, and asks whether it is applied, unless `--yes` is given. */
export async function isAgreed(
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

/** The policy may have changed since the plan was made. The plan is what somebody has seen, so it is applied as it is. */
function noteChangedPolicy({ policy }: SavedPlan, definition: Definition, { message }: Terminal): void {
  if (definition === 'missing')
    message(`There is no policy ${policy.name} any more. The plan is applied with the policy as it was.`);
  if (definition === 'changed')
    message(
      `The policy ${policy.name} has changed since the plan was made. The plan is applied as it is; the change takes effect with the next plan or run.`,
    );
}
