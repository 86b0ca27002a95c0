/** Checks `select` of a policy: where candidates come from, filters, sorts and conditions. */
import { checkListQuery, type List, type QueryFault } from '../contract/list.ts';
import { operationOf } from '../contract/operations.ts';
import { ExpressionError } from '../expression/expression.ts';
import { parentListOf } from '../job/candidates.ts';
import type { AnyJob } from '../job/job.ts';
import { candidatesOf, type Selected } from '../job/source.ts';
import { suggestionFor } from '../suggest.ts';
import type { Diagnostic } from '../yaml/diagnostic.ts';
import type { Path, Remark } from '../yaml/yaml-file.ts';
import { contradictions } from './never-matches.ts';
import type { PolicyEntry } from './policy-file.ts';
import { compileParentWhere, compileWhereOf } from './where.ts';

export type Place = (path: Path, remark: Remark) => Diagnostic;

/** The valid parts of a policy's `select`. */
export type PartialSelect = Partial<PolicyEntry['select']>;

/** Where candidates come from, as far as the policy says so. */
export const selectedOf = ({ from, for_each: forEach }: PartialSelect): Selected => ({
  ...(from === undefined ? {} : { from }),
  ...(forEach ? { forEach: { list: forEach.list } } : {}),
});

/** Whether the policy says where its candidates come from in a way that the rest of it can be checked against. */
export const isSourceKnown = (select: PartialSelect, job: AnyJob): boolean =>
  sourceFault(select, job) === undefined;

/** Everything that is wrong with `select`. */
export function selectFindings(select: PartialSelect, job: AnyJob, place: Place): Diagnostic[] {
  const fault = sourceFault(select, job);
  if (fault) return [place(fault[0], fault[1])];
  const { filters, sort, timezone, where, for_each: forEach } = select;
  const selected = selectedOf(select);
  const { list } = operationOf(candidatesOf(job, selected));
  const query = {
    ...(filters && { filters }),
    ...(sort !== undefined && { sort }),
    ...(timezone !== undefined && { timezone }),
  };
  return [
    ...(list ? queryFindings(list, query, ['select'], place) : []),
    ...(where === undefined
      ? []
      : whereFindings(() => compileWhereOf(job, selected, where), ['select'], place)),
    ...(forEach ? parentFindings(forEach, place) : []),
  ];
}

function parentFindings(
  { list: id, filters, where }: NonNullable<PartialSelect['for_each']>,
  place: Place,
): Diagnostic[] {
  const at = ['select', 'for_each'];
  const { list } = operationOf(id);
  return [
    ...(list ? queryFindings(list, { filters }, at, place) : []),
    ...(where === undefined ? [] : whereFindings(() => compileParentWhere(id, where), at, place)),
  ];
}

/**
 * The job determines the list of candidates; if it works on any list, the policy has to name one. A list that each
 * site has needs `for_each`.
 */
function sourceFault({ from, for_each: forEach }: PartialSelect, job: AnyJob): [Path, Remark] | undefined {
  if (job.candidates !== 'any') {
    if (forEach) {
      const message = `"for_each" does not apply to the job ${job.name}.`;
      return [['select', 'for_each'], { at: 'key', message, suggestion: 'remove it' }];
    }
    if (from === undefined || from === job.candidates) return undefined;
    const message = `The job ${job.name} works on ${job.candidates} only.`;
    return [['select', 'from'], { message, suggestion: 'remove "from"' }];
  }
  if (from === undefined) {
    const message = `The job ${job.name} works on any list; name one with "from", such as listSites.`;
    return [['select'], { at: 'key', message }];
  }
  const parent = parentListOf(from);
  if (parent === forEach?.list) return undefined;
  if (parent === undefined) {
    const message = `${from} is one list for the whole account, so "for_each" does not apply to it.`;
    return [['select', 'for_each'], { at: 'key', message, suggestion: 'remove it' }];
  }
  const message = `${from} is a list that each item of ${parent} has.`;
  return [['select', 'from'], { message, suggestion: `add for_each: ${parent}` }];
}

interface Query {
  filters?: PartialSelect['filters'];
  sort?: string;
}

function queryFindings(list: List, query: Query, at: Path, place: Place): Diagnostic[] {
  const faults = checkListQuery(list, { ...query, filters: query.filters ?? {} });
  return [
    ...faults.map((fault) => place([...at, ...fault.path], faultRemark(fault, query, list))),
    ...(faults.length === 0 ? contradictions(list, query.filters ?? {}) : []).map(({ path, message }) =>
      place([...at, ...path], { message }),
    ),
  ];
}

function faultRemark({ path, message, allowed }: QueryFault, query: Query, list?: List): Remark {
  const [part, field = '', operator] = path;
  const isName = part === 'filters' && (operator === undefined || isNoOperator(list, field, operator));
  const subject = message.startsWith('must ') ? `"${field || part}" ` : '';
  const sentence = `${subject}${message}.`;
  return {
    at: isName ? 'key' : 'value',
    message: sentence.charAt(0).toUpperCase() + sentence.slice(1),
    suggestion: allowed && suggestionFor(wrongWord(path, query, isName), allowed),
  };
}

const isNoOperator = (list: List | undefined, field: string, operator: string) =>
  !list ||
  !Object.hasOwn(list.filters, field) ||
  !list.filters[field]?.operators.some((one) => one === operator);

function wrongWord([part, field = '', operator = '']: readonly string[], query: Query, isName: boolean) {
  if (part === 'sort') return query.sort?.split(',')[0] ?? '';
  if (isName) return operator || field;
  const value = query.filters?.[field]?.[operator];
  return String(Array.isArray(value) ? value[0] : value);
}

function whereFindings(compile: () => unknown, at: Path, place: Place): Diagnostic[] {
  try {
    compile();
    return [];
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    const { message, suggestion, offset } = error;
    return [place([...at, 'where'], { message, suggestion, ...(offset !== undefined && { offset }) })];
  }
}
