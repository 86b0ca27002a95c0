/**
 * Warns with the plan about names in a selection that the account does not have, and about an empty
 * selection. The service answers a filter with an unknown id with an empty list, so such an error shows
 * nowhere else.
 */
import { GoneError } from '../../client/errors.ts';
import { allItems } from '../../client/pages.ts';
import type { Item } from '../../contract/operations.ts';
import { candidatesOf } from '../../job/candidates.ts';
import type { AnyJob } from '../../job/job.ts';
import type { Policy } from '../../policy/policy.ts';
import { compileWhereOf } from '../../policy/where.ts';
import { closest } from '../../suggest.ts';
import { callOptionsOf, type Planning } from './candidates.ts';

type Filters = Policy['select']['filters'];

/** A tag as a policy names it. */
interface Mention {
  by: 'id' | 'name';
  text: string;
  where: string;
}

export class Selection {
  private candidates = 0;
  private readonly filters: Filters;
  private unseenTags: Mention[];

  constructor({ select }: Policy, job: AnyJob) {
    this.filters = select.filters;
    this.unseenTags = tagsMentioned(select, job);
  }

  /** Notes a candidate that the list returned. */
  readonly see = (candidate: unknown): void => {
    this.candidates += 1;
    if (this.unseenTags.length === 0) return;
    const { tags } = candidate as { tags?: Item<'listSites'>['tags'] };
    if (Array.isArray(tags))
      this.unseenTags = this.unseenTags.filter(({ by, text }) => tags.every((tag) => tag[by] !== text));
  };

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
    const list = candidatesOf(planning.job, planning.policy.select);
    const none =
      Object.keys(this.filters).length > 0
        ? `No candidates: ${list} has no item that matches select.filters.`
        : `No candidates: ${list} is empty.`;
    return [none, ...unknown];
  }
}

const valuesOf = (conditions: Filters[string]): string[] => Object.values(conditions).flat().map(String);

function tagsMentioned(select: Policy['select'], job: AnyJob): Mention[] {
  const { filters, where } = select;
  const ids = filters['tags'] ? valuesOf(filters['tags']) : [];
  const asked = where === undefined ? undefined : compileWhereOf(job, select, where).tags;
  const inWhere = (by: Mention['by'], texts: readonly string[] = []) =>
    texts.filter((text) => text !== '').map((text) => ({ by, text, where: 'select.where' }));
  return [
    ...ids.map((text) => ({ by: 'id' as const, text, where: 'select.filters.tags' })),
    ...inWhere('id', asked?.ids),
    ...inWhere('name', asked?.names),
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
