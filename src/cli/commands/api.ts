import { existsSync, readFileSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Client } from '../../client/client.ts';
import { InvalidInputError } from '../../client/errors.ts';
import { allItems, type Incomplete } from '../../client/pages.ts';
import { checkInput } from '../../contract/input.ts';
import {
  type Input,
  isOperationId,
  type ListId,
  type OperationId,
  operationOf,
  operations,
} from '../../contract/operations.ts';
import { fileFaultOf, messageOf } from '../../errors.ts';
import { accountOf } from '../../settings/account.ts';
import { suggestionFor } from '../../suggest.ts';
import { type GlobalOptions, settingsOf, withAccount } from '../context.ts';
import { exit, UsageError } from '../exit.ts';
import { describeAsJson, describeOperation } from '../output/describe-operation.ts';
import { type List, showList } from '../output/list.ts';
import { rowTable, show } from '../output/show.ts';
import type { Terminal } from '../output/terminal.ts';
import { warnIncomplete } from '../output/warn-incomplete.ts';

interface ApiOptions extends GlobalOptions {
  list?: boolean;
  describe?: boolean;
  account: string;
  param?: string[];
  filter?: string[];
  sort?: string;
  all?: boolean;
  body?: string;
  file?: string;
}

/** The maximum size of a PDF. No report is this large, and a faulty response must not fill the disk. */
const MAX_DOWNLOAD_BYTES = 200 * 1024 * 1024;

/**
 * Calls one operation of the API by its name and prints the response. Costs one request, or one per page with
 * `--all`.
 */
export async function api(
  terminal: Terminal,
  word: string | undefined,
  options: ApiOptions,
): Promise<number> {
  if (options.list || word === undefined) return listOperations(terminal, word, options);
  if (!isOperationId(word)) throw unknownOperation(word);
  if (options.describe) {
    const text = () => terminal.data(describeOperation(word), 'values-only');
    await show(terminal, options, { value: describeAsJson(word), text, keepKeys: true });
    return exit.ok;
  }
  checkOptions(word, options);
  const settings = settingsOf(terminal, options);
  accountOf(settings, options.account);
  const input = inputOf(word, options);
  const faults = checkInput(word, input);
  if (faults.length > 0) throw new InvalidInputError(word, faults);
  return withAccount(options.account, terminal, options, settings, async ({ client }) => {
    if (options.file !== undefined) return download(client, word, input, options.file, terminal);
    const answer = options.all
      ? await allPages(client, word, input, warnIncomplete(terminal))
      : await client.call(word, input as Input<typeof word>, { requestClass: 'person' });
    if (answer === undefined) terminal.message(`${word}: done.`);
    else await printAnswer(terminal, word, answer, options);
    return exit.ok;
  });
}

function unknownOperation(word: string): UsageError {
  const names = Object.keys(operations);
  const meant = operationByOtherVerb(word, names);
  const hint = meant === undefined ? suggestionFor(word, names) : `did you mean ${meant}?`;
  return new UsageError(
    `There is no operation "${word}"${hint ? `: ${hint}` : '.'} "caretaker api --list" lists all operations.`,
  );
}

/** Verbs with the same meaning. The service uses one of each group. */
const synonyms = [
  ['get', 'show', 'read', 'fetch', 'find', 'list'],
  ['create', 'add', 'new', 'make', 'invite', 'connect'],
  ['delete', 'remove', 'destroy', 'disconnect'],
  ['update', 'edit', 'change', 'set'],
] as const;

/**
 * The operation with another verb of the same meaning: `showSite` for `getSite`. Also tries singular and
 * plural.
 */
export function operationByOtherVerb(word: string, names: readonly string[]): string | undefined {
  const [, verb = '', object = ''] = /^([a-z]+)(.*)$/.exec(word) ?? [];
  const verbs = synonyms.find((words) => words.some((one) => one === verb));
  const things = [object, `${object}s`, object.replace(/s$/, '')];
  return [
    ...things.map((thing) => verb + thing),
    ...things.flatMap((thing) => verbs?.map((one) => one + thing) ?? []),
  ].find((name) => names.some((one) => one === name));
}

/** Rejects options that would have no effect. */
function checkOptions(id: OperationId, { all, file, param = [] }: ApiOptions): void {
  const { list, answers } = operationOf(id);
  if (all && !list) throw new UsageError(`${id} does not return a list, so --all does not apply.`);
  if (all && param.some((pair) => /^(page|perPage)=/.test(pair)))
    throw new UsageError('--all reads every page, so page and perPage do not apply.');
  if (answers !== 'pdf') {
    if (file !== undefined)
      throw new UsageError(
        `${id} does not return a PDF. Omit --file; to write a file, redirect the output with ">".`,
      );
    return;
  }
  if (file === undefined) throw new UsageError(`${id} returns a PDF. Name the file to write with --file.`);
  if (existsSync(file)) throw new UsageError(`${file} already exists. --file must name a new file.`);
  if (!existsSync(dirname(file)))
    throw new UsageError(`The folder ${dirname(file)} of --file does not exist.`);
}

/** All operations, or those with `word` in name or path. */
async function listOperations(
  terminal: Terminal,
  word: string | undefined,
  options: GlobalOptions,
): Promise<number> {
  const all = (Object.keys(operations) as OperationId[]).map((id) => ({ id, ...operationOf(id) }));
  const query = word?.toLowerCase() ?? '';
  const found = all.filter(({ id, path }) => `${id} ${path}`.toLowerCase().includes(query));
  if (found.length === 0) throw unknownOperation(word ?? '');
  const value = found.map(({ id, method, path, summary, section }) => ({
    id,
    method,
    path,
    summary,
    section,
  }));
  return showList(terminal, options, listed, {
    rows: value,
    below: () => terminal.message('"caretaker api <operation> --help" shows the parameters of an operation.'),
  });
}

const listed: List<Record<'id' | 'method' | 'path' | 'summary', string>> = {
  table: {
    operation: ({ id }) => id,
    method: ({ method }) => method,
    path: ({ path }) => path,
    description: ({ summary }) => summary,
  },
  shrink: ['description: 24', 'path: 0', 'method: 0', 'description: 0'],
};

/** Combines the options into one input. The contract validates it afterwards. */
function inputOf(id: OperationId, options: ApiOptions): Record<string, unknown> {
  const operation = operationOf(id);
  // Without a prototype, so that `__proto__` is an ordinary name: no input may be dropped silently.
  const input = Object.create(null) as Record<string, unknown>;
  for (const pair of options.param ?? []) {
    const [name, value] = split(pair, '=', '--param must be name=value');
    input[name] = (name === 'page' || name === 'perPage') && operation.list ? Number(value) : value;
  }
  const filters = Object.create(null) as Record<string, Record<string, unknown>>;
  for (const one of options.filter ?? []) {
    const [place, value] = split(one, '=', '--filter must be field:operator=value');
    const [field, operator] = split(place, ':', '--filter must be field:operator=value');
    filters[field] = { ...filters[field], [operator]: operator === 'in' ? value.split(',') : value };
  }
  if (options.filter) input['filters'] = filters;
  if (options.sort) input['sort'] = options.sort;
  if (options.body !== undefined) input['body'] = bodyFrom(options.body);
  return input;
}

function split(text: string, at: string, usage: string): [string, string] {
  const index = text.indexOf(at);
  if (index < 1) throw new UsageError(`${usage}, not "${text}".`);
  return [text.slice(0, index), text.slice(index + 1)];
}

function bodyFrom(file: string): unknown {
  const where = file === '-' ? 'standard input' : file;
  let text: string;
  try {
    text = readFileSync(file === '-' ? 0 : file, 'utf8');
  } catch (error) {
    throw new UsageError(`The body cannot be read from ${where}: ${fileFaultOf(error)}.`);
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new UsageError(`The body in ${where} is not valid JSON${jsonPlace(error, text)}.`);
  }
}

/** The position of the JSON error, if it is known: ` (line 2, column 5)`. */
function jsonPlace(error: unknown, text: string): string {
  if (text.trim() === '') return ': it is empty';
  const [, at] = /at position (\d+)/.exec(messageOf(error)) ?? [];
  if (at === undefined) return /end of JSON|Unterminated/.test(messageOf(error)) ? ': it is incomplete' : '';
  const lines = text.slice(0, Number(at)).split('\n');
  return ` (line ${lines.length}, column ${(lines.at(-1) ?? '').length + 1})`;
}

/** The answer that one page with all items would be; undefined for an operation that is no list. */
async function allPages(
  client: Client,
  id: OperationId,
  input: object,
  onIncomplete: (incomplete: Incomplete) => void,
): Promise<object | undefined> {
  const { list } = operationOf(id);
  if (!list) return undefined;
  const items: unknown[] = [];
  const pages = allItems(
    id as ListId,
    (page) =>
      client.call(id, { ...input, ...(list.paged ? page : {}) } as Input<typeof id>, {
        requestClass: 'person',
      }),
    { onIncomplete },
  );
  for await (const item of pages) items.push(item);
  return { [list.key]: items };
}

/**
 * An answer is JSON unless another format is chosen. The rows of `table`, `csv` and `jsonl` are the items of
 * a list, or the one object of another answer.
 */
async function printAnswer(
  terminal: Terminal,
  id: OperationId,
  answer: object,
  { output = 'json' }: GlobalOptions,
): Promise<void> {
  const { list } = operationOf(id);
  const items: unknown = list ? (answer as Record<string, unknown>)[list.key] : undefined;
  const rows = (Array.isArray(items) ? items : [answer]) as object[];
  const text = () => terminal.data(rowTable(rows, terminal));
  await show(terminal, { output }, { value: answer, rows, text, keepKeys: true });
}

async function download(
  client: Client,
  id: OperationId,
  input: Record<string, unknown>,
  path: string,
  terminal: Terminal,
): Promise<number> {
  let size = 0;
  const stream = await client.download(id, input, { requestClass: 'person' });
  // Reports contain data of clients, so only the current user may read the file.
  const file = await open(path, 'wx', 0o600);
  await pipeline(
    stream,
    async function* bounded(chunks) {
      for await (const chunk of chunks as AsyncIterable<Buffer>) {
        size += chunk.length;
        if (size > MAX_DOWNLOAD_BYTES)
          throw new UsageError(`The PDF is larger than ${MAX_DOWNLOAD_BYTES} bytes and was not saved.`);
        yield chunk;
      }
    },
    file.createWriteStream(),
  ).catch((error: unknown) => {
    // An incomplete file could be mistaken for the whole PDF.
    rmSync(path, { force: true });
    throw error;
  });
  terminal.message(`Wrote ${path} (${size} bytes).`);
  return exit.ok;
}
