/**
 * What a policy refers to in the account: the ids in filters and options, and what its conditions compare with the
 * ids and names of tags, clients, ... Names in place of ids are looked up before; see `names.ts`.
 */
import type { Kind } from '../../contract/kinds.ts';
import { compileExpression } from '../../expression/expression.ts';
import { type CandidateSource, candidateLists } from '../../job/candidates.ts';
import { fieldsOfItem } from '../../job/fields.ts';
import type { AnyJob } from '../../job/job.ts';
import { idsInOptions } from '../../job/references.ts';
import { candidatesOf, listDeclared, sourceOf } from '../../job/source.ts';
import type { Policy } from '../../policy/policy.ts';
import type { Reference } from '../../policy/referred.ts';
import { compileParentWhere, compileWhereOf, referencesIn } from '../../policy/where.ts';
import type { Mention } from './directory.ts';
import { placeOf } from './names.ts';

/** A part of a condition of which it cannot be seen what it refers to. */
export interface Unseen {
  kind: Kind;
  source: string;
  where: string;
}

export interface Mentions {
  mentions: Mention[];
  unseen: Unseen[];
}

/** The same mention has the same key. */
export const keyOf = ({ kind, by, how, text }: Omit<Mention, 'where'>): string =>
  [kind, by, how, text].join(' ');

/** Costs no request. */
export function mentionsIn(policy: Policy, job: AnyJob): Mentions {
  const { select, rollout, options } = policy;
  const { filters, where, forEach, join = {} } = select;
  const conditions: [string, readonly Reference[]][] = [
    ...(where === undefined ? [] : [inWhere('select.where', where)]),
    ...(forEach?.where === undefined
      ? []
      : [['select.for_each.where', compileParentWhere(forEach.list, forEach.where).references()] as const]),
    ...(rollout?.batches ?? []).flatMap((batch, i) =>
      'where' in batch ? [inWhere(`rollout.batches[${i}].where`, batch.where)] : [],
    ),
    ...Object.entries(join).map(([name, { list, on }]) => {
      const own = sourceOf(job, { ...select, join: {} }).variables;
      const variables = { [candidateLists[list]]: fieldsOfItem(list), ...own };
      return [`select.join.${name}.on`, referencesIn(compileExpression(on, variables), variables)] as const;
    }),
  ].map(([at, references]) => [at, references]);
  const inConditions = conditions.flatMap(([at, references]) =>
    references.map((one) => ({ ...one, where: at })),
  );
  return {
    mentions: [
      ...idsInFilters(candidatesOf(job, select), filters, 'select'),
      ...(forEach ? idsInFilters(forEach.list, forEach.filters, 'select.for_each') : []),
      ...Object.entries(join).flatMap(([name, one]) =>
        idsInFilters(one.list, one.filters, `select.join.${name}`),
      ),
      ...inConditions.flatMap(({ kind, by, where: at, ...one }) =>
        one.how === 'unknown' || one.text === ''
          ? []
          : [{ kind, by, how: one.how, text: one.text, where: at }],
      ),
      ...idsInOptions(job, options).map(
        ({ path, kind, id }): Mention => ({
          ...{ kind, by: 'id', how: 'is', text: id, where: placeOf(['options', ...path], policy) },
          inOptions: true,
        }),
      ),
    ],
    unseen: inConditions.flatMap(({ kind, where: at, ...one }) =>
      one.how === 'unknown' ? [{ kind, source: one.source, where: at }] : [],
    ),
  };

  function inWhere(at: string, source: string): [string, readonly Reference[]] {
    return [at, compileWhereOf(job, select, source).references()];
  }
}

/** The ids in filters. */
function idsInFilters(list: CandidateSource, filters: Policy['select']['filters'], at: string): Mention[] {
  const known = listDeclared(list)?.filters ?? {};
  return Object.entries(filters).flatMap(([field, conditions]) => {
    const kind = known[field]?.idOf;
    if (kind === undefined) return [];
    return Object.values(conditions)
      .flat()
      .map(
        (id) => ({ kind, by: 'id', how: 'is', text: String(id), where: `${at}.filters.${field}` }) as const,
      );
  });
}
