/**
 * Names in place of ids (`{ name: Premium }`): looked up when a run is planned, once for the whole run. The run
 * records what they stand for, so that a plan that is continued, each target and a retry use the same ids.
 */
import { namesInFilters, withIds } from '../../contract/references.ts';
import { CaretakerError } from '../../errors.ts';
import type { CandidateSource } from '../../job/candidates.ts';
import type { AnyJob } from '../../job/job.ts';
import { namesInOptions } from '../../job/references.ts';
import { candidatesOf, listDeclared } from '../../job/source.ts';
import type { Policy } from '../../policy/policy.ts';
import type { LookedUp } from '../../run/run.ts';
import type { Directory } from './directory.ts';

/** A name in a policy stands for nothing in the account, or for several things. */
export class UnknownNameError extends CaretakerError {
  readonly code = 'UNKNOWN_NAME';
}

type Path = readonly (string | number)[];

/** Every name in a policy, in place of an id. */
function namesIn(policy: Policy, job: AnyJob) {
  const { select, options } = policy;
  const { forEach, join = {} } = select;
  const inFilters = (list: CandidateSource, filters: Policy['select']['filters'], at: string[]) =>
    namesInFilters(listDeclared(list) ?? { filters: {} }, filters).names.map(({ path, ...one }) => ({
      ...one,
      path: ['select', ...at, 'filters', ...path],
    }));
  return [
    ...inFilters(candidatesOf(job, select), select.filters, []),
    ...(forEach ? inFilters(forEach.list, forEach.filters, ['forEach']) : []),
    ...Object.entries(join).flatMap(([name, { list, filters }]) => inFilters(list, filters, ['join', name])),
    ...namesInOptions(job, options).map(({ path, ...one }) => ({ ...one, path: ['options', ...path] })),
  ];
}

/** A path in the words of the file: `select.filters.tags`, `with.params.tag_id`. */
export function placeOf([part, ...path]: Path, policy: Pick<Policy, 'steps'>): string {
  if (part === 'select') {
    const field = path.slice(0, path.indexOf('filters') + 2);
    return ['select', ...field.map((key) => (key === 'forEach' ? 'for_each' : key))].join('.');
  }
  const inner = path.map((key) => (typeof key === 'number' ? `[${key}]` : `.${key}`));
  const step = policy.steps && inner.shift();
  return `${step === undefined ? '' : `steps${step}.`}with${inner.join('')}`;
}

/**
 * What the names in a policy stand for. Costs one request per 100 tags, clients, ... of each kind that has a
 * name in the policy, and none without names.
 *
 * @throws {UnknownNameError} with a message for each name that stands for nothing, or for several things.
 */
export async function lookUpNames(policy: Policy, job: AnyJob, directory: Directory): Promise<LookedUp[]> {
  const found: LookedUp[] = [];
  const faults: string[] = [];
  for (const { path, kind, name } of namesIn(policy, job)) {
    const one = await directory.find(kind, name, placeOf(path, policy));
    if ('id' in one) found.push({ path, kind, name, id: one.id });
    else faults.push(one.fault);
  }
  if (faults.length > 0) throw new UnknownNameError([...new Set(faults)].join(' '));
  return found;
}

/** The policy with ids in place of the names that were looked up. */
export const withNames = (policy: Policy, names: readonly LookedUp[]): Policy => withIds(policy, names);
