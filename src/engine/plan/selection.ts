/**
 * Warns with the plan about ids and names in a selection that the account does not have, and about an empty
 * selection. The service answers a filter with an unknown id with an empty list, so such an error shows
 * nowhere else. A name in place of an id is looked up before; see `names.ts`.
 */
import type { Kind } from '../../contract/kinds.ts';
import type { Item } from '../../contract/operations.ts';
import type { CandidateSource } from '../../job/candidates.ts';
import type { AnyJob } from '../../job/job.ts';
import { candidatesOf, listDeclared } from '../../job/source.ts';
import type { Policy } from '../../policy/policy.ts';
import { compileParentWhere, compileWhereOf, type Where } from '../../policy/where.ts';
import type { Directory } from './directory.ts';
import { countMatching } from './listing.ts';
import type { Planning } from './planning.ts';

type Filters = Policy['select']['filters'];

/** What a policy refers to, by its id or name. */
interface Mention {
  kind: Kind;
  by: 'id' | 'name';
  text: string;
  where: string;
}

/** What a plan has seen of its lists. */
export interface Seen {
  candidates: number;
  parents: number;
  /** The tags that were on no item. */
  unseenTags: readonly string[];
}

export class Selection {
  /** How many candidates were seen. */
  candidates: number;
  private parents: number;
  private isPushed = false;
  private readonly filters: Filters;
  private unseenTags: Mention[];
  private readonly others: Mention[];

  constructor(
    { select }: Policy,
    job: AnyJob,
    private readonly directory: Directory,
    earlier?: Seen,
  ) {
    this.filters = select.filters;
    this.candidates = earlier?.candidates ?? 0;
    this.parents = earlier?.parents ?? 0;
    const mentions = mentionsIn(select, job);
    this.unseenTags = mentions.filter(
      ({ kind, text }) => kind === 'tag' && (earlier?.unseenTags.includes(text) ?? true),
    );
    this.others = mentions.filter(({ kind }) => kind !== 'tag');
  }

  get seen(): Seen {
    const { candidates, parents, unseenTags } = this;
    return { candidates, parents, unseenTags: unseenTags.map(({ text }) => text) };
  }

  /** Notes a candidate that the list returned. */
  readonly see = (candidate: unknown): void => {
    this.candidates += 1;
    this.seeTags(candidate);
  };

  /** Notes that parts of the condition were sent as filters, so that not every candidate was seen. */
  readonly seePushed = (filters: readonly unknown[]): void => {
    this.isPushed = filters.length > 0;
  };

  /** Notes an item that the list of `for_each` returned. */
  readonly seeParent = (parent: unknown): void => {
    this.parents += 1;
    this.seeTags(parent);
  };

  private seeTags(item: unknown): void {
    if (this.unseenTags.length === 0) return;
    const { tags } = item as { tags?: Item<'listSites'>['tags'] };
    if (Array.isArray(tags))
      this.unseenTags = this.unseenTags.filter(({ by, text }) => tags.every((tag) => tag[by] !== text));
  }

  /**
   * A message for each probable error in the selection. Usually costs nothing. Costs one request per 100 tags
   * when a tag of the selection is on no candidate. When there is no candidate, costs one request per 100
   * clients, ... if the filters have the id of one, one per id of a site, and one to see whether `select.where`
   * excludes all of them.
   */
  async warnings(planning: Planning): Promise<string[]> {
    if (planning.only) return [];
    const unknown = [
      ...(await this.unknown(this.unseenTags)),
      ...(this.candidates > 0 ? [] : await this.unknown(this.others)),
    ];
    if (this.candidates > 0 || (this.isPushed && (await countMatching(planning)) > 0)) return unknown;
    return [this.noCandidates(planning), ...unknown];
  }

  private noCandidates({ job, policy: { select } }: Planning): string {
    const { forEach } = select;
    const list = candidatesOf(job, select);
    if (!forEach) return noneIn(list, this.filters, 'select.filters');
    if (this.parents === 0) return noneIn(forEach.list, forEach.filters, 'select.for_each.filters');
    const matching = Object.keys(this.filters).length > 0 ? ' that matches select.filters' : '';
    return `No candidates: ${list} shows no item${matching} in any of the lists that were read.`;
  }

  /** A message for each of these that the account does not have. */
  private async unknown(mentions: readonly Mention[]): Promise<string[]> {
    const messages: string[] = [];
    for (const { kind, by, text, where } of mentions) {
      if (by === 'id' || kind === 'site')
        messages.push((await this.directory.unknownId(kind, text, where)) ?? '');
      else if (!(await this.directory.hasName(kind, text)))
        messages.push(await this.directory.unknownName(kind, text, where));
    }
    return messages.filter((message) => message !== '');
  }
}

const noneIn = (list: string, filters: Filters, key: string): string =>
  Object.keys(filters).length > 0
    ? `No candidates: ${list} has no item that matches ${key}.`
    : `No candidates: ${list} is empty.`;

function mentionsIn(select: Policy['select'], job: AnyJob): Mention[] {
  const { filters, where, forEach } = select;
  return [
    ...idsInFilters(candidatesOf(job, select), filters, 'select'),
    ...(where === undefined ? [] : tagsInWhere(compileWhereOf(job, select, where), 'select')),
    ...(forEach ? idsInFilters(forEach.list, forEach.filters, 'select.for_each') : []),
    ...(forEach?.where === undefined
      ? []
      : tagsInWhere(compileParentWhere(forEach.list, forEach.where), 'select.for_each')),
  ];
}

/** The ids in filters. Names were replaced by ids. */
function idsInFilters(list: CandidateSource, filters: Filters, at: string): Mention[] {
  const known = listDeclared(list)?.filters ?? {};
  return Object.entries(filters).flatMap(([field, conditions]) => {
    const kind = known[field]?.idOf;
    if (kind === undefined) return [];
    return Object.values(conditions)
      .flat()
      .map((id) => ({ kind, by: 'id' as const, text: String(id), where: `${at}.filters.${field}` }));
  });
}

function tagsInWhere({ tags: { ids, names } }: Where, at: string): Mention[] {
  const mentions = (by: Mention['by'], texts: readonly string[]) =>
    texts
      .filter((text) => text !== '')
      .map((text) => ({ kind: 'tag' as const, by, text, where: `${at}.where` }));
  return [...mentions('id', ids), ...mentions('name', names)];
}
