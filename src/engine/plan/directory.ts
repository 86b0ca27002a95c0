/** The tags, clients, ... of an account by name and id, listed once per plan and only if something asks. */
import type { CallOptions } from '../../client/call-options.ts';
import type { Client } from '../../client/client.ts';
import { allItems, type Incomplete } from '../../client/pages.ts';
import { hasNames, type Kind, kinds, type NamedKind, namesOf } from '../../contract/kinds.ts';
import type { ListId } from '../../contract/operations.ts';
import { namesInFilters, withIds } from '../../contract/references.ts';
import { CaretakerError } from '../../errors.ts';
import type { How } from '../../expression/compared.ts';
import type { CandidateSource } from '../../job/candidates.ts';
import type { AnyJob } from '../../job/job.ts';
import { namesInOptions } from '../../job/references.ts';
import { candidatesOf, listDeclared } from '../../job/source.ts';
import type { Policy } from '../../policy/policy.ts';
import type { LookedUp } from '../../run/run.ts';
import { closest } from '../../suggest.ts';

/** Something that a policy refers to. */
export interface Mention {
  kind: Kind;
  by: 'id' | 'name';
  how: How;
  text: string;
  /** Where, in the words of the file: `select.where`. */
  where: string;
  /** It is in the options of the job, and counts whatever is selected. */
  inOptions?: true;
}

interface Entry {
  id: string;
  names: readonly string[];
}

const likes: Record<Exclude<How, 'is'>, (text: string, part: string) => boolean> = {
  startsWith: (text, part) => text.startsWith(part),
  endsWith: (text, part) => text.endsWith(part),
  contains: (text, part) => text.includes(part),
};

/** Up to this many names are listed when none is similar. */
const MAX_LISTED = 12;

export class Directory {
  private readonly lists = new Map<NamedKind, Promise<readonly Entry[]>>();

  constructor(
    private readonly client: Pick<Client, 'call'>,
    private readonly options: CallOptions,
    private readonly onIncomplete?: (incomplete: Incomplete) => void,
  ) {}

  /**
   * The id of what has this name, or a message why there is not one. An exact match comes before one that
   * differs in upper and lower case. `place` is where the policy has the name.
   */
  async find(kind: NamedKind, name: string, place: string): Promise<{ id: string } | { fault: string }> {
    const { noun } = kinds[kind];
    const all = await this.entries(kind);
    const exact = all.filter(({ names }) => names.includes(name));
    const same = (one: string) => one.toLowerCase() === name.toLowerCase();
    const found = exact.length > 0 ? exact : all.filter(({ names }) => names.some(same));
    const [one, ...others] = found;
    if (one && others.length === 0) return { id: one.id };
    if (one) {
      const ids = found.map(({ id }) => `"${id}"`).join(', ');
      return {
        fault: `Several ${noun}s are called "${name}" (${place}): ${ids}. Use the id of one of them.`,
      };
    }
    return { fault: await this.unknownName(kind, name, place) };
  }

  /** The message about a name that nothing has. */
  private async unknownName(kind: NamedKind, name: string, place: string): Promise<string> {
    const all = await this.entries(kind);
    const names = [...new Set(all.flatMap((one) => one.names))];
    const meant = closest(name, names);
    const isId = all.some(({ id }) => id === name);
    const hint = isId
      ? ` It is the id of one: write "${name}" without { name: }.`
      : meant !== undefined
        ? ` Did you mean "${meant}"?`
        : names.length > 0 && names.length <= MAX_LISTED
          ? ` It has: ${names.map((one) => `"${one}"`).join(', ')}.`
          : '';
    return `The account has no ${kinds[kind].noun} called "${name}" (${place}).${hint}`;
  }

  /** Why what a policy refers to is unknown; undefined when the account has it. */
  async whyUnknown({ kind, by, how, text, where }: Mention): Promise<string | undefined> {
    if (how !== 'is') return this.noneLike(kind, by, how, text, where);
    if (by === 'id' || !hasNames(kind)) return this.unknownId(kind, text, where);
    return (await this.hasName(kind, text)) ? undefined : this.unknownName(kind, text, where);
  }

  private async noneLike(
    kind: Kind,
    by: Mention['by'],
    how: Exclude<How, 'is'>,
    text: string,
    place: string,
  ) {
    if (!hasNames(kind)) return undefined;
    const all = await this.entries(kind);
    if (all.some(({ id, names }) => (by === 'id' ? [id] : names).some((one) => likes[how](one, text))))
      return undefined;
    const said = { startsWith: 'begins with', endsWith: 'ends with', contains: 'contains' }[how];
    return `The account has no ${kinds[kind].noun} whose ${by} ${said} "${text}" (${place}).`;
  }

  /** The message about an id that nothing of this kind has; undefined when something has it. */
  private async unknownId(kind: Kind, id: string, place: string): Promise<string | undefined> {
    const message = `The account has no ${kinds[kind].noun} with the id "${id}" (${place}).`;
    if (kind === 'site') {
      const { sites } = await this.client.call('listSites', { filters: { id: { eq: id } } }, this.options);
      return sites.length > 0 ? undefined : message;
    }
    const all = await this.entries(kind);
    if (all.some((one) => one.id === id)) return undefined;
    const same = (one: string) => one.toLowerCase() === id.toLowerCase();
    const named = all.find(({ names }) => names.some(same));
    const hint = named
      ? ` The ${kinds[kind].noun} of that name has the id "${named.id}": write { name: "${id}" }.`
      : '';
    return `${message}${hint}`;
  }

  /** Whether a tag, a client, ... has this name, exactly. */
  private async hasName(kind: NamedKind, name: string): Promise<boolean> {
    return (await this.entries(kind)).some(({ names }) => names.includes(name));
  }

  /** Costs one request per 100, the first time. */
  private entries(kind: NamedKind): Promise<readonly Entry[]> {
    const known = this.lists.get(kind) ?? this.read(kind);
    this.lists.set(kind, known);
    return known;
  }

  private async read(kind: NamedKind): Promise<readonly Entry[]> {
    const list: ListId = kinds[kind].list;
    const entries: Entry[] = [];
    const { client, options, onIncomplete } = this;
    for await (const item of allItems(list, (page) => client.call(list, page, options), { onIncomplete }))
      entries.push({ id: String(Reflect.get(item, 'id')), names: namesOf(kind, item) });
    return entries;
  }
}

// Names in place of ids (`{ name: Premium }`): looked up when a run is planned, once for the whole run. The run
// records what they stand for, so that a plan that is continued, each target and a retry use the same ids.

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
