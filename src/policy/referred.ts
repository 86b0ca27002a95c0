/** Which fields of the service's items are the id or the name of something else in the account: `site.tags[0].name`. */
import { type Kind, kindNames, kinds } from '../contract/kinds.ts';
import { kindOfParameter } from '../contract/references.ts';
import type { Compared } from '../expression/compared.ts';
import { type Field, type FieldTree, ListOf, type Variables } from '../expression/fields.ts';
import { type CandidateList, candidateLists } from '../job/candidates.ts';
import { fieldsOfItem } from '../job/fields.ts';

/** What a field refers to. */
export interface Referred {
  kind: Kind;
  by: 'id' | 'name';
}

/** Something in the account that a condition names. */
export type Reference = Referred & Compared;

/** Fields that are called otherwise than their kind. */
const otherNames: Readonly<Record<string, Kind>> = {
  tags: 'tag',
  auto_update_schedule: 'schedule',
  report_template: 'template',
  sender_email: 'sender',
};

const kindOfHolder = (name: string | undefined): Kind | undefined => {
  if (name === undefined) return undefined;
  if (Object.hasOwn(otherNames, name)) return otherNames[name];
  return kindNames.find((kind) => kind === name);
};

/** The fields of these variables that refer to something. */
export function referredBy(variables: Variables): Map<Field, Referred> {
  const found = new Map<Field, Referred>();
  for (const [name, variable] of Object.entries(variables)) {
    const fields = variable instanceof ListOf ? variable.fields : variable;
    collect(fields, rootKind(name, fields), found);
  }
  return found;
}

/** What the items of a variable are: by its list, or by its name. */
function rootKind(name: string, fields: FieldTree): Kind | undefined {
  const ofList = kindNames.find((kind) => fieldsOfItem(kinds[kind].list) === fields);
  return ofList ?? kindNames.find((kind) => candidateLists[kinds[kind].list as CandidateList] === name);
}

function collect(fields: FieldTree, holder: Kind | undefined, found: Map<Field, Referred>): void {
  for (const [name, field] of Object.entries(fields)) {
    const referred = referredIn(name, holder);
    if (referred) found.set(field, referred);
    if (field.kind === 'object') collect(field.fields, kindOfHolder(name), found);
    else if (field.kind === 'list' && field.of.kind === 'object')
      collect(field.of.fields, kindOfHolder(name), found);
  }
}

function referredIn(name: string, holder: Kind | undefined): Referred | undefined {
  const kind = kindOfParameter(name);
  if (kind) return { kind, by: 'id' };
  if (!holder) return undefined;
  if (name === 'id') return { kind: holder, by: 'id' };
  const info: { noun: string; fields?: readonly string[] } = kinds[holder];
  return info.fields?.includes(name) ? { kind: holder, by: 'name' } : undefined;
}

/** What an item shows of other things in the account, as far as `referredBy` knows it. */
export function* shownBy(item: unknown, holder: Kind | undefined): Generator<Referred & { text: string }> {
  if (typeof item !== 'object' || item === null) return;
  for (const [name, value] of Object.entries(item)) {
    const referred = referredIn(name, holder);
    if (referred && typeof value === 'string') yield { ...referred, text: value };
    const inner = kindOfHolder(name);
    if (!inner) continue;
    for (const one of Array.isArray(value) ? value : [value]) yield* shownBy(one, inner);
  }
}
