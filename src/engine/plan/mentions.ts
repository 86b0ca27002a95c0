/**
 * What a policy refers to in the account: the ids in filters and options, and what its conditions compare with the
 * ids and names of tags, clients, ... Names in place of ids are looked up before; see `directory.ts`.
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
import { type Mention, placeOf } from './directory.ts';

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
  const inConditions = [
    ...(where === undefined ? [] : inWhere('select.where', where)),
    ...(forEach?.where === undefined
      ? []
      : at('select.for_each.where', compileParentWhere(forEach.list, forEach.where).references())),
    ...(rollout?.batches ?? []).flatMap((batch, i) =>
      'where' in batch ? inWhere(`rollout.batches[${i}].where`, batch.where) : [],
    ),
    ...(rollout?.healthy === undefined ? [] : inWhere('rollout.healthy', rollout.healthy)),
    ...Object.entries(join).flatMap(([name, { list, on }]) => {
      const own = sourceOf(job, { ...select, join: {} }).variables;
      const variables = { [candidateLists[list]]: fieldsOfItem(list), ...own };
      return at(`select.join.${name}.on`, referencesIn(compileExpression(on, variables), variables));
    }),
    ...(job.expressions?.(options, sourceOf(job, select)) ?? []).flatMap(({ path, expression, variables }) =>
      at(placeOf(['options', ...path], policy), referencesIn(expression, variables), true),
    ),
  ];
  return {
    mentions: [
      ...idsInFilters(candidatesOf(job, select), filters, 'select'),
      ...(forEach ? idsInFilters(forEach.list, forEach.filters, 'select.for_each') : []),
      ...Object.entries(join).flatMap(([name, one]) =>
        idsInFilters(one.list, one.filters, `select.join.${name}`),
      ),
      ...inConditions.flatMap(({ reference: one, ...facts }): Mention[] =>
        one.how === 'unknown' || one.text === ''
          ? []
          : [{ kind: one.kind, by: one.by, how: one.how, text: one.text, ...facts }],
      ),
      ...idsInOptions(job, options).map(
        ({ path, kind, id }): Mention => ({
          ...{ kind, by: 'id', how: 'is', text: id, where: placeOf(['options', ...path], policy) },
          inOptions: true,
        }),
      ),
    ],
    unseen: inConditions.flatMap(({ reference: one, where: place }) =>
      one.how === 'unknown' ? [{ kind: one.kind, source: one.source, where: place }] : [],
    ),
  };

  function inWhere(place: string, source: string) {
    return at(place, compileWhereOf(job, select, source).references());
  }
}

interface InCondition {
  reference: Reference;
  where: string;
  inOptions?: true;
}

const at = (where: string, references: readonly Reference[], inOptions?: true): InCondition[] =>
  references.map((reference) => ({ reference, where, ...(inOptions && { inOptions }) }));

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
