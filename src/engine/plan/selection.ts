/**
 * Warns with the plan about names in a selection that the account does not have, and about an empty
 * selection. The service answers a filter with an unknown id with an empty list, so such an error shows
 * nowhere else.
 */
import { GoneError } from '../../client/errors.ts';
import { allItems } from '../../client/pages.ts';
import type { Item } from '../../contract/operations.ts';
import type { AnyJob } from '../../job/job.ts';
import { candidatesOf } from '../../job/source.ts';
import type { Policy } from '../../policy/policy.ts';
import { compileParentWhere, compileWhereOf, type Where } from '../../policy/where.ts';
import { closest } from '../../suggest.ts';
import { callOptionsOf, type Planning } from './planning.ts';

type Filters = Policy['select']['filters'];

/** A tag as a policy names it. */
interface Mention {
  by: 'id' | 'name';
  text: string;
  where: string;
}

export class Selection {
  /** How many candidates were seen. */
  candidates = 0;
  private parents = 0;
  private readonly filters: Filters;
  private unseenTags: Mention[];

  constructor({ select }: Policy, job: AnyJob) {
    this.filters = select.filters;
    this.unseenTags = tagsMentioned(select, job);
  }

  /** Notes a candidate that the list returned. */
  readonly see = (candidate: unknown): void => {
    this.candidates += 1;
    this.seeTags(candidate);
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
   * A message for each probable error in the selection. Usually costs nothing. Costs one request per client
   * or site of the filters when there is no candidate, and one per 100 tags when a tag of the selection is on
   * no candidate.
   */
  async warnings(planning: Planning): Promise<string[]> {
    if (planning.only) return [];
    const unknown = [
      ...(await unknownTags(planning, this.unseenTags)),
      ...(this.candidates > 0 ? [] : await unknownOwners(planning, this.filters)),
    ];
    if (this.candidates > 0) return unknown;
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
}

const noneIn = (list: string, filters: Filters, key: string): string =>
  Object.keys(filters).length > 0
    ? `No candidates: ${list} has no item that matches ${key}.`
    : `No candidates: ${list} is empty.`;

const valuesOf = (conditions: Filters[string]): string[] => Object.values(conditions).flat().map(String);

function tagsMentioned(select: Policy['select'], job: AnyJob): Mention[] {
  const { filters, where, forEach } = select;
  const ofParents =
    forEach?.where === undefined ? undefined : compileParentWhere(forEach.list, forEach.where);
  return [
    ...tagsIn(filters, where === undefined ? undefined : compileWhereOf(job, select, where), 'select'),
    ...(forEach ? tagsIn(forEach.filters, ofParents, 'select.for_each') : []),
  ];
}

function tagsIn(filters: Filters, condition: Where | undefined, at: string): Mention[] {
  const ids = filters['tags'] ? valuesOf(filters['tags']) : [];
  const inWhere = (by: Mention['by'], texts: readonly string[] = []) =>
    texts.filter((text) => text !== '').map((text) => ({ by, text, where: `${at}.where` }));
  return [
    ...ids.map((text) => ({ by: 'id' as const, text, where: `${at}.filters.tags` })),
    ...inWhere('id', condition?.tags.ids),
    ...inWhere('name', condition?.tags.names),
  ];
}

async function unknownTags(planning: Planning, unseen: readonly Mention[]): Promise<string[]> {
  if (unseen.length === 0) return [];
  const { client } = planning;
  const tags: { id: string; name?: string | undefined }[] = [];
  const options = callOptionsOf(planning);
  for await (const { id, name } of allItems('listTags', (page) => client.call('listTags', page, options)))
    tags.push({ id, name });
  return unseen
    .filter(({ by, text }) => !tags.some((tag) => tag[by] === text))
    .map(({ by, text, where }) =>
      by === 'id'
        ? `The account has no tag with the id "${text}" (${where}).${idOfName(text, tags)}`
        : `The account has no tag called "${text}" (${where}).${nearest(text, tags)}`,
    );
}

type Tags = readonly { id: string; name?: string | undefined }[];

function idOfName(text: string, tags: Tags): string {
  const named = tags.find(({ name }) => name?.toLowerCase() === text.toLowerCase());
  return named ? ` The tag of that name has the id "${named.id}".` : '';
}

function nearest(text: string, tags: Tags): string {
  const meant = closest(
    text,
    tags.flatMap(({ name }) => name ?? []),
  );
  return meant === undefined ? '' : ` Did you mean "${meant}"?`;
}

/** The clients and sites that a filter names and the account does not have. */
async function unknownOwners(planning: Planning, filters: Filters): Promise<string[]> {
  const { client } = planning;
  const options = callOptionsOf(planning);
  const existsByField: Record<string, (id: string) => Promise<boolean>> = {
    client_id: async (id) => {
      try {
        await client.call('showClient', { client_id: id }, options);
        return true;
      } catch (error) {
        if (error instanceof GoneError) return false;
        throw error;
      }
    },
    site_id: async (id) => {
      const { sites } = await client.call('listSites', { filters: { id: { eq: id } } }, options);
      return sites.length > 0;
    },
  };
  const sentences: string[] = [];
  for (const [field, exists] of Object.entries(existsByField)) {
    for (const id of valuesOf(filters[field] ?? {})) {
      const what = field === 'client_id' ? 'client' : 'site';
      if (!(await exists(id)))
        sentences.push(`The account has no ${what} "${id}" (select.filters.${field}).`);
    }
  }
  return sentences;
}
