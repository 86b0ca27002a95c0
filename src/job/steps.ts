/**
 * Several jobs on the same targets, one after the other (`steps` of a policy), as one job.
 *
 * The engine keeps which steps of a target are done (`steps` of its record), and each call of `act` or
 * `reconcile` goes to the step that the target is at. So the rules for effects are those of the job of that
 * step: one effect per call, recorded before it is sent.
 */
import { z } from 'zod';
import type { OperationId } from '../contract/operations.ts';
import { coreReasons, type ReasonInfo } from '../run/reasons.ts';
import { Finding, type StepEnd } from '../run/run.ts';
import { stepTitle, withTitle } from '../run/steps.ts';
import type { End, StepAnswer } from './answer.ts';
import type { CandidateList } from './candidates.ts';
import type {
  Acting,
  AnyJob,
  Evaluating,
  EvaluatingExtra,
  Evaluation,
  Items,
  Named,
  Preparing,
} from './job.ts';
import { idsInOptions, namesInOptions } from './references.ts';
import type { Source } from './source.ts';
import { type Verification, type Verified, type Verifying, verifiedOperations } from './verify.ts';

/** A step of a policy. */
export interface JobStep {
  name: string;
  job: AnyJob;
}

/** The options of each step; and what each has prepared. */
type Options = readonly unknown[];
type Prepared = readonly unknown[] | undefined;

/** What a target keeps for one of its steps: the state of its job, or the end that planning has found. */
const StepState = z.object({
  state: z.exactOptional(z.unknown()),
  end: z.exactOptional(
    z.object({
      reason: z.string(),
      detail: z.exactOptional(z.string()),
      findings: z.exactOptional(z.array(Finding)),
    }),
  ),
});
type StepState = z.output<typeof StepState>;
type State = readonly StepState[];

/** Why a job cannot be a step of a policy; undefined when it can. */
export function whyNoStep({ name, reportsSelection, takesLists }: AnyJob): string | undefined {
  if (reportsSelection)
    return `The job ${name} only reports what the policy selects, so it cannot be a step.`;
  return takesLists ? `The job ${name} works on whole lists, so it cannot be a step.` : undefined;
}

/** The list that the steps work on: that of the first job that does not work on any list. */
export const listOf = (jobs: readonly AnyJob[]): CandidateList | 'any' =>
  jobs.find(({ candidates }) => candidates !== 'any')?.candidates ?? 'any';

/** One job out of several that work on the same list. */
export function jobOfSteps(steps: readonly JobStep[]): AnyJob {
  const jobs = steps.map(({ job }) => job);
  const [first] = jobs;
  if (!first) throw new Error('A policy with "steps" needs at least one.');
  const related = [...new Set(jobs.flatMap((job) => job.related ?? []))];
  const aggregateIds = jobs.flatMap((job) => job.aggregateIds ?? []);
  const own = Object.assign({}, ...jobs.map((job) => job.reasons ?? {}));
  const reasons: Record<string, ReasonInfo> = { ...coreReasons, ...own };
  const names = steps.map(({ name }) => name);
  const stepAt = (index: number): JobStep => {
    const step = steps[index];
    if (!step) throw new Error(`The policy has no step ${index + 1}.`);
    return step;
  };

  /** Whether the steps after this end may begin. A notable end, such as `announced`, leaves work to a later run. */
  const goesOn = ({ is, reason }: End): boolean => is === 'done' && !reasons[reason]?.notable;

  /** The answer of a step's job as the answer of this one. */
  const outer = (answer: StepAnswer, { state, step: at }: Acting<Options, State>): StepAnswer<State> => {
    const isLast = at + 1 >= steps.length;
    const withState = (inner: unknown) =>
      (state ?? []).map((one, i) => (i === at ? { state: checked(stepAt(at).job, inner) } : one));
    switch (answer.is) {
      case 'done':
        return goesOn(answer) && !isLast ? { is: 'step-done', end: answer, state: state ?? [] } : answer;
      case 'next':
        return { is: 'next', state: withState(answer.state) };
      case 'following': {
        const { next, ...following } = answer;
        if (next !== undefined) return { ...following, next: withState(next) };
        return isLast ? following : { ...following, next: state ?? [], endsStep: true };
      }
      case 'step-done':
        throw new Error('The job of a step has no steps of its own.');
      default:
        return answer;
    }
  };

  const inner = (acting: Acting<Options, State>): Acting<unknown> => {
    const { job } = stepAt(acting.step);
    const options = acting.options[acting.step];
    const kept = acting.state?.[acting.step]?.state;
    return { ...acting, options, state: kept === undefined ? undefined : job.state?.parse(kept) };
  };

  /** What a step adds to the state of its target; or what the plan makes of the target because of this step. */
  const plannedStep = (found: Evaluation<unknown>, at: number): StepState | Evaluation<State> => {
    const { name, job } = stepAt(at);
    const title = stepTitle(name, at);
    if (found.is === 'excluded' || found.is === 'ineligible')
      return { ...found, why: `${title}: ${found.why}` };
    if (found.is === 'target') return found.state === undefined ? {} : { state: checked(job, found.state) };
    const { reason, detail = own[reason]?.text, findings = [] } = found.end;
    if (!goesOn(found.end)) return { is: 'ended', end: { ...found.end, detail: withTitle(title, detail) } };
    const end = { reason, ...(detail === undefined ? {} : { detail }) };
    return { end: findings.length === 0 ? end : { ...end, findings: [...findings] } };
  };

  return {
    name: jobNames(steps),
    summary: 'Several jobs, one after the other.',
    steps: names,
    reasons: own,
    options: z.array(z.unknown()),
    names: (options: Options) =>
      jobs.flatMap((job, i) =>
        namesInOptions(job, options[i]).map((one) => ({ ...one, path: [i, ...one.path] })),
      ),
    ids: (options: Options) =>
      jobs.flatMap((job, i) =>
        idsInOptions(job, options[i]).map((one) => ({ ...one, path: [i, ...one.path] })),
      ),
    expressions: (options: Options, source: Source) =>
      jobs.flatMap((job, i) =>
        (job.expressions?.(options[i], source) ?? []).map((one) => ({ ...one, path: [i, ...one.path] })),
      ),
    candidates: listOf(jobs),
    state: z.array(StepState),
    ...(related.length > 0 && { related }),
    ...(aggregateIds.length > 0 && { aggregateIds }),
    ...(jobs.some((job) => job.comparesInfo) && { comparesInfo: true as const }),

    // A list's items are identified in the same way by every job that works on it.
    target: (candidate: never) => ({ ...first.target(candidate), ...siteOf(jobs, candidate) }),
    ...(jobs.some((job) => job.prepare) && {
      async prepare(preparing: Preparing<Options>) {
        const prepared: unknown[] = [];
        for (const [i, job] of jobs.entries())
          prepared.push(await job.prepare?.({ ...preparing, options: preparing.options[i], step: i }));
        return prepared;
      },
    }),
    ...(jobs.some((job) => job.relate) && {
      relate: (candidate: never, prepared?: readonly unknown[]) =>
        Object.assign({}, ...jobs.map((job, i) => job.relate?.(candidate, prepared?.[i]) ?? {})),
    }),
    ...(jobs.some((job) => job.extraTargets) && {
      *extraTargets(evaluating: EvaluatingExtra<Options, Prepared>) {
        for (const [i, job] of jobs.entries()) {
          for (const extra of job.extraTargets?.(ofStep(evaluating, i)) ?? []) {
            if (extra.is !== 'target') yield extra;
            else if (!extra.takesBack)
              throw new Error(`The job ${job.name} has targets of its own, so it cannot be a step.`);
            else
              yield {
                ...extra,
                step: i,
                state: jobs.map((_, at) => (at === i ? { state: checked(job, extra.state) } : {})),
              };
          }
        }
      },
    }),

    evaluate(candidate: never, evaluating: Evaluating<Options, Prepared>, items: Items) {
      const done = evaluating.stepsDone ?? [];
      const states: StepState[] = done.map(() => ({}));
      const plans: string[] = [];
      for (const [i, job] of jobs.entries()) {
        if (i < done.length) continue;
        const found = job.evaluate?.(candidate, ofStep(evaluating, i), items) ?? { is: 'target' };
        const planned = plannedStep(found, i);
        if ('is' in planned) return planned.is === 'ended' ? { ...planned, steps: done } : planned;
        plans.push(...planOf(stepAt(i), i, found));
        states.push(planned);
      }
      return withPlans(fromFirstOpen(states, done, evaluating.now), plans);
    },

    ...(jobs.every(({ changes }) => changes)
      ? {
          changes: (options: Options) => jobs.flatMap((job, i) => job.changes?.(options[i]) ?? []),
          verified: (options: Options) =>
            jobs.flatMap((job, i) => [verifiedOperations(job, options[i])].flat() as OperationId[]),
        }
      : {}),
    ...(jobs.every(({ changes, verify }) => changes && verify) && {
      async verify({ targets, ...verifying }: Verifying<Options, State>): Promise<Verification<State>> {
        const inner = (one: Verified<State>) => ({ ...one, state: one.state?.[one.step]?.state });
        const all = await Promise.all(
          jobs.map((job, i) =>
            job.verify?.({
              ...verifying,
              options: verifying.options[i],
              targets: targets.filter(({ step }) => step === i).map(inner),
            }),
          ),
        );
        return {
          readsItems: all.some((one) => one?.readsItems),
          takesBack: (one) => all[one.step]?.takesBack?.(inner(one)) ?? false,
          relate: (candidate) => Object.assign({}, ...all.map((one) => one?.relate?.(candidate) ?? {})),
          differs: (one, items) => all[one.step]?.differs(inner(one), items),
        };
      },
    }),
    requestsPerTarget: (options: Options) =>
      jobs.reduce((sum, { requestsPerTarget: cost }, i) => {
        return sum + (typeof cost === 'number' ? cost : cost(options[i]));
      }, 0),

    async act(acting: Acting<Options, State>) {
      const { end } = acting.state?.[acting.step] ?? {};
      if (end) return outer({ is: 'done', ...end }, acting);
      return outer(await stepAt(acting.step).job.act(inner(acting)), acting);
    },
    async reconcile(acting: Acting<Options, State>, intent) {
      const found = await stepAt(acting.step).job.reconcile(inner(acting), intent);
      return found.is === 'absent' || found.is === 'unknown' ? found : outer(found, acting);
    },
  } satisfies AnyJob as AnyJob;
}

const ofStep = <E extends Evaluating<Options, Prepared>>(evaluating: E, at: number) => ({
  ...evaluating,
  options: evaluating.options[at],
  prepared: evaluating.prepared?.[at],
});

/** `api-call, site-sync`: what lists show as the job of a policy with steps. */
export const jobNames = (steps: readonly { job: string | { name: string } }[]): string =>
  steps.map(({ job }) => (typeof job === 'string' ? job : job.name)).join(', ');

/** The site that the steps change; null when no step changes it. */
function siteOf(jobs: readonly AnyJob[], candidate: never): Pick<Named, 'site'> {
  const changing = jobs.map((job) => job.target(candidate).site).filter((site) => site !== null);
  const [site] = changing.filter((one) => one !== undefined);
  if (changing.length === 0) return { site: null };
  return site === undefined ? {} : { site };
}

/**
 * A target that is at the first step that has something to do, with the steps before it done. When none has,
 * the target has ended with the last.
 */
function fromFirstOpen(states: State, done: readonly StepEnd[], at: number): Evaluation<State> {
  const open = states.findIndex(({ end }, i) => i >= done.length && end === undefined);
  const ends = states.flatMap(({ end }) => end ?? []);
  const before = open === -1 ? ends.slice(0, -1) : ends.slice(0, open - done.length);
  const over = [...done, ...before.map((end) => ({ ...end, at }))];
  const last = ends.at(-1);
  if (open === -1 && last) return { is: 'ended', end: { is: 'done', ...last }, steps: over };
  return { is: 'target', state: states, steps: over };
}

/** What a step would do, as its job says it, with the name of the step. */
const planOf = ({ name }: JobStep, at: number, found: Evaluation<unknown>): string[] =>
  found.is === 'target' && found.plan !== undefined ? [withTitle(stepTitle(name, at), found.plan)] : [];

const withPlans = (evaluation: Evaluation<State>, plans: readonly string[]): Evaluation<State> =>
  evaluation.is === 'target' && plans.length > 0 ? { ...evaluation, plan: plans.join('; ') } : evaluation;

/** The state that a job gave, if it matches the schema that the job declares. */
function checked({ name, state: schema }: AnyJob, state: unknown): unknown {
  if (!schema) throw new Error(`The job ${name} gave a state, but does not declare one.`);
  return schema.parse(state);
}
