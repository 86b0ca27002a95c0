/**
 * What the ids of the service refer to. The schemas of bodies (`idOf`) and the filters of lists (`ids`) say
 * which kind an id is of; a path parameter is known by its name. `references.ts` finds the ids in a request.
 */

interface KindInfo {
  /** What messages call one. */
  noun: string;
  /** The path parameter that names one. */
  parameter: string;
  /** The list of all of them. */
  list: string;
  /**
   * What people call one of them, best first. Policies may use these names instead of the id. Undefined: only
   * ids are possible.
   */
  names?: (item: object) => (string | undefined)[];
  /** The fields of an item that have one of these names each. */
  fields?: readonly string[];
  /** The form of its ids, where the service promises one; an id of that form as an example. */
  form?: { pattern: RegExp; example: string };
}

const fields =
  (...names: string[]) =>
  (item: object): (string | undefined)[] =>
    names.map((name) => {
      const value: unknown = Reflect.get(item, name);
      return typeof value === 'string' ? value : undefined;
    });

const clientNames = fields('company_name', 'first_name', 'last_name', 'email');

export const kinds = {
  site: { noun: 'site', parameter: 'site_id', list: 'listSites' },
  tag: {
    noun: 'tag',
    parameter: 'tag_id',
    list: 'listTags',
    names: fields('name'),
    fields: ['name'],
    form: { pattern: /^\d+$/, example: '12' },
  },
  client: {
    noun: 'client',
    parameter: 'client_id',
    list: 'listClients',
    names: (item) => {
      const [company, first = '', last = '', email] = clientNames(item);
      return [company, `${first} ${last}`.trim(), email];
    },
    fields: ['company_name', 'email'],
  },
  template: {
    noun: 'report template',
    parameter: 'report_template_id',
    list: 'listReportTemplates',
    names: fields('name'),
    fields: ['name'],
  },
  schedule: {
    noun: 'auto update schedule',
    parameter: 'auto_update_schedule_id',
    list: 'listAutoUpdateSchedules',
    names: fields('name'),
    fields: ['name'],
  },
  sender: {
    noun: 'sender email',
    parameter: 'sender_email_id',
    list: 'listSenderEmails',
    names: fields('email', 'name'),
    fields: ['email', 'name'],
  },
} as const satisfies Record<string, KindInfo>;

export type Kind = keyof typeof kinds;
export const kindNames = Object.keys(kinds) as readonly Kind[];

/** The kinds that have names. */
export type NamedKind = {
  [K in Kind]: (typeof kinds)[K] extends { names: unknown } ? K : never;
}[Kind];

export const hasNames = (kind: Kind): kind is NamedKind => 'names' in kinds[kind];

/** The form of the ids of a kind; undefined where any text can be one. */
export function formOf(kind: Kind | undefined): KindInfo['form'] {
  const info: KindInfo | undefined = kind && kinds[kind];
  return info?.form;
}

/** A name in place of an id, as in a policy: in quotes where YAML would read it as something else. */
export function nameAsWritten(name: string): string {
  const isPlain = /^[\p{L}_](?:[\p{L}\p{N} _@.-]*[\p{L}\p{N}.])?$/u.test(name);
  return `{ name: ${isPlain && !/^(true|false|null)$/i.test(name) ? name : JSON.stringify(name)} }`;
}

/** The message about a value that is no id of this kind, and the name that was probably meant; undefined when it can be one. */
export function wrongId(
  kind: Kind | undefined,
  value: unknown,
): { message: string; suggestion?: string } | undefined {
  const form = formOf(kind);
  if (!kind || !form || typeof value === 'object' || form.pattern.test(String(value))) return undefined;
  const message = `must be the id of a ${kinds[kind].noun}, which is a number such as "${form.example}"`;
  return hasNames(kind) && typeof value === 'string' && /\S/.test(value)
    ? { message, suggestion: `write ${nameAsWritten(value)}` }
    : { message };
}

/** The names of an item, without those that are empty or not shown. */
export const namesOf = (kind: NamedKind, item: object): string[] => [
  ...new Set(kinds[kind].names(item).filter((name): name is string => name !== undefined && name !== '')),
];
