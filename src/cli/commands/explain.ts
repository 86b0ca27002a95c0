import { closest } from '../../suggest.ts';
import { wrapped } from '../../yaml/width.ts';
import type { GlobalOptions } from '../context.ts';
import { exit, UsageError } from '../exit.ts';
import type { Topic, Topics } from '../explain/topic.ts';
import { loadJobTopics, loadTopics } from '../explain/topics.ts';
import { rowTable, show } from '../output/show.ts';
import type { Terminal } from '../output/terminal.ts';

/**
 * Explains a reason, an error code, a key, an operation of the service, a function of CEL, or a job. Uses
 * neither Redis nor the service. Without a word, lists all.
 */
export async function explain(
  terminal: Terminal,
  word: string | undefined,
  options: GlobalOptions,
): Promise<number> {
  const loaded = await loadTopics();
  if (word === undefined) return listAll([...loaded, await loadJobTopics()], terminal, options);
  const found = loaded.flatMap((topics) => topics.find(word));
  // The jobs take long to load. A key of that name below another key may not be the one that is meant.
  const isWhole = found.some(({ name }) => name.toLowerCase() === word.toLowerCase());
  const topics = isWhole ? found : [...found, ...(await loadJobTopics()).find(word)];
  if (topics.length === 0) throw unknownWord(word, [...loaded, await loadJobTopics()]);
  await show(terminal, options, {
    value: topics.map(asJson),
    columns: ['name', 'kind', 'text', 'example'],
    text: () => terminal.data(topics.map((topic) => formatted(topic, terminal)).join('\n\n'), 'values-only'),
    keepKeys: true,
  });
  return exit.ok;
}

const asJson = ({ name, kind, text, facts, example, details }: Topic) => ({
  ...{ name, kind, text, facts, example: example ?? null, details: details ?? null },
});

async function listAll(
  loaded: readonly Topics[],
  terminal: Terminal,
  options: GlobalOptions,
): Promise<number> {
  const topics = loaded.flatMap((one) => one.names().flatMap((name) => one.find(name)));
  const rows = [
    ...new Map(topics.map(({ name, kind, text }) => [`${kind} ${name}`, { name, kind, text }])).values(),
  ];
  const text = () => terminal.data(rowTable(rows, terminal), 'values-only');
  await show(terminal, options, { value: rows, columns: ['name', 'kind', 'text'], text, keepKeys: true });
  return exit.ok;
}

const INDENT = 2;

function formatted({ name, kind, text, facts, example, details }: Topic, terminal: Terminal): string {
  const { paint, dataColumns } = terminal;
  const indented = (lines: string, by = INDENT) =>
    lines
      .split('\n')
      .map((line) => ' '.repeat(by) + line)
      .join('\n');
  const fitted = (line: string) => indented(wrapped(line, dataColumns && dataColumns - INDENT));
  return [
    `${paint('bold', name)} ${paint('dim', `(${kind})`)}`,
    fitted(text),
    ...Object.entries(facts).map(([fact, value]) => fitted(`${fact}: ${value}`)),
    ...(details ? [indented(details)] : []),
    ...(example === undefined
      ? []
      : example.includes('\n')
        ? [indented('example:'), indented(example, 2 * INDENT)]
        : [indented(`example: ${example}`)]),
  ].join('\n');
}

function unknownWord(word: string, loaded: readonly Topics[]): UsageError {
  const names = [...new Set(loaded.flatMap((topics) => topics.names()))];
  // The last part of a key is what people remember.
  const known = [...names, ...names.map((name) => name.split('.').at(-1) ?? name)];
  const near = closest(word, known);
  const containing = names.filter((name) => name.toLowerCase().includes(word.toLowerCase())).slice(0, 5);
  const meant = [...new Set([...(near === undefined ? [] : [near]), ...containing])];
  const hint = meant.length === 0 ? '' : ` Did you mean ${listed(meant)}?`;
  return new UsageError(
    `There is no reason, error code, key, operation, function or job "${word}".${hint} "caretaker explain" lists all words.`,
  );
}

const listed = (words: readonly string[]): string =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
