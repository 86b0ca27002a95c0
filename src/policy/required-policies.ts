/** Other policies that the options of a policy's jobs name: they must exist, and be what the job needs. */
import type { OtherPolicy, RequiredPolicy } from '../job/job.ts';
import type { Registry } from '../job/registry.ts';
import { suggestionFor } from '../suggest.ts';
import type { Path, Remark } from '../yaml/yaml-file.ts';
import type { Policy } from './policy.ts';

/** A policy that another names, and where in that one. */
interface Named extends Omit<RequiredPolicy, 'path'> {
  path: Path;
}

/** The jobs of a policy with their options, and where these are. */
const jobsOf = ({ job, options, steps }: Policy): { job: string; options: unknown; path: Path }[] =>
  steps
    ? steps.map((step, i) => ({
        job: step.job,
        options: (options as readonly unknown[])[i],
        path: ['steps', i, 'with'],
      }))
    : [{ job, options, path: ['with'] }];

/** The policies that the options of this one name. */
export const requiredBy = (policy: Policy, registry: Registry): Named[] =>
  jobsOf(policy).flatMap(({ job, options, path }) =>
    (registry.get(job)?.requires?.(options) ?? []).map((one) => ({ ...one, path: [...path, ...one.path] })),
  );

/**
 * Everything that is wrong with the policies that this one names, each with its place. `known`: all policies by
 * name; one with errors is undefined, and has its own findings.
 */
export function requiredRemarks(
  policy: Policy,
  known: ReadonlyMap<string, Policy | undefined>,
  registry: Registry,
): [Path, Remark][] {
  return requiredBy(policy, registry).flatMap(({ path, policy: name, fault }): [Path, Remark][] => {
    const faultOf = (one: Policy) => fault(asOther(one), { account: policy.account });
    if (!known.has(name)) {
      const usable = [...known.values()].filter((one) => one && !faultOf(one));
      const suggestion = suggestionFor(
        name,
        usable.flatMap((one) => one?.name ?? []),
      );
      return [[path, { message: `There is no policy "${name}".`, suggestion }]];
    }
    const other = known.get(name);
    const remark = other && faultOf(other);
    return remark ? [[path, remark]] : [];
  });
}

const asOther = (policy: Policy): OtherPolicy => ({
  name: policy.name,
  account: policy.account,
  jobs: jobsOf(policy).map(({ job, options }) => ({ job, options })),
});
