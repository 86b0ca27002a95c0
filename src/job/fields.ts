/**
 * The fields of the service's items and their kinds. Conditions are type-checked with them, and names are
 * suggested from them.
 */
import { z } from 'zod';
import { type ListId, type OperationId, operationOf } from '../contract/operations.ts';
import { published } from '../contract/schema.ts';
import { type Field, type FieldTree, type Kind, ListOf } from '../expression/fields.ts';
import { isSecretKey } from '../secrets.ts';

/** The fields of an object schema, nested; none for another schema. */
export function fieldsOf(schema: z.core.$ZodType): FieldTree {
  const reading = published(schema);
  if (!(reading instanceof z.ZodObject)) return {};
  return Object.fromEntries(Object.entries(reading.shape).map(([name, field]) => [name, fieldOf(field)]));
}

const items = new Map<ListId, FieldTree>();

/** The fields of one item of a list operation. */
export function fieldsOfItem(id: ListId): FieldTree {
  const found = items.get(id) ?? readFieldsOfItem(id);
  items.set(id, found);
  return found;
}

const candidates = new Map<ListId, FieldTree>();

/**
 * The fields of one item of a list operation, and those that only its single view shows. Credentials are not
 * among them, and neither is what a single view shows only sometimes.
 */
export function fieldsOfCandidate(id: ListId, view: OperationId | undefined): FieldTree {
  const found = candidates.get(id) ?? (view ? both(fieldsOfItem(id), fieldsOfView(view)) : fieldsOfItem(id));
  candidates.set(id, found);
  return found;
}

function both(listed: FieldTree, alone: FieldTree): FieldTree {
  const shared = Object.entries(listed).map(([name, field]): [string, Field] => {
    const other = alone[name];
    const isObject = field.kind === 'object' && other?.kind === 'object';
    return [name, isObject ? { ...field, fields: both(field.fields, other.fields) } : field];
  });
  const added = Object.entries(alone).filter(
    ([name, { optional }]) => !Object.hasOwn(listed, name) && !optional && !isSecretKey(name),
  );
  return Object.fromEntries([...shared, ...added.map(([name, field]) => [name, withoutSecrets(field)])]);
}

const withoutSecrets = (field: Field): Field =>
  field.kind === 'object' ? { ...field, fields: both({}, field.fields) } : field;

const views = new Map<OperationId, FieldTree>();

/** The fields of what an operation shows alone: of the account's branding. */
export function fieldsOfView(id: OperationId): FieldTree {
  const { answer } = operationOf(id);
  const [shown] = answer instanceof z.ZodObject ? Object.values(answer.shape) : [];
  const found = views.get(id) ?? (shown ? fieldsOf(shown as z.core.$ZodType) : {});
  views.set(id, found);
  return found;
}

const lists = new Map<ListId, ListOf>();

/** A list of such items, as a variable. The same for the same list. */
export function listOfItems(id: ListId): ListOf {
  const found = lists.get(id) ?? new ListOf(fieldsOfItem(id));
  lists.set(id, found);
  return found;
}

function readFieldsOfItem(id: ListId): FieldTree {
  const { answer, list } = operationOf(id);
  const page = answer instanceof z.ZodObject && list ? answer.shape[list.key] : undefined;
  return page instanceof z.ZodArray ? fieldsOf(page.element) : {};
}

function fieldOf(schema: z.core.$ZodType): Field {
  if (schema instanceof z.ZodOptional) return { ...fieldOf(schema.unwrap()), optional: true };
  if (schema instanceof z.ZodNullable) return { ...fieldOf(schema.unwrap()), nullable: true };
  return { ...kindOf(schema), nullable: false, optional: false };
}

function kindOf(schema: z.core.$ZodType): Kind {
  if (schema instanceof z.ZodISODateTime) return { kind: 'timestamp' };
  if (schema instanceof z.ZodISODate) return { kind: 'day' };
  if (schema instanceof z.ZodString) return { kind: 'string' };
  if (schema instanceof z.ZodEnum) return { kind: 'string', values: schema.options.map(String) };
  if (schema instanceof z.ZodBoolean) return { kind: 'boolean' };
  if (schema instanceof z.ZodNumber) return { kind: 'number' };
  if (schema instanceof z.ZodArray) return { kind: 'list', of: fieldOf(schema.element) };
  if (schema instanceof z.ZodRecord) return { kind: 'map', of: fieldOf(schema.valueType) };
  return schema instanceof z.ZodObject ? { kind: 'object', fields: fieldsOf(schema) } : { kind: 'any' };
}
