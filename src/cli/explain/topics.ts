/** Where words are looked up, those sources first that load fast. */

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import {
  isOperationId,
  type OperationId,
  operationOf,
  operations,
  whyDestructive,
} from '../../contract/operations.ts';
import { functionDocs } from '../../expression/function-docs.ts';
import { describeOperation, exampleOf } from '../output/describe-operation.ts';
import type { Topic, Topics } from './topic.ts';

/** Everything but the jobs. */
export async function loadTopics(): Promise<Topics[]> {
  const { keyTopics } = await import('./keys.ts');
  return [errorTopics(), functionTopics(), operationTopics(), keyTopics()];
}

/** Loads every job, with all that jobs need. */
export const loadJobTopics = async (): Promise<Topics> => (await import('./jobs.ts')).jobTopics();

/** The kind of the rows of each section, and what its columns mean; the first column is the name. */
const sections: Readonly<Record<string, { kind: string; columns: readonly string[] }>> = {
  'Error codes': { kind: 'error code', columns: ['exit code', 'text', 'what to do'] },
  Reasons: { kind: 'reason of an outcome', columns: ['text', 'what to do'] },
  'Checks of `doctor`': { kind: 'check of doctor', columns: ['text', 'what to do'] },
};

export function errorTopics(): Topics {
  const page = createRequire(import.meta.url).resolve('#root/docs/errors.md');
  const topics = topicsIn(readFileSync(page, 'utf8'));
  return {
    names: () => topics.map(({ name }) => name),
    find: (word) => topics.filter(({ name }) => name.toLowerCase() === word.toLowerCase()),
  };
}

/** The rows of the tables whose first cell is one name in backquotes. */
function topicsIn(page: string): Topic[] {
  return page.split(/^## /m).flatMap((part) => {
    const heading = part.slice(0, part.indexOf('\n'));
    const section = Object.hasOwn(sections, heading) ? sections[heading] : undefined;
    if (!section) return [];
    const retryable = namesIn(/may be temporary: ([^.]*)\./s.exec(part)?.[1] ?? '');
    return [...part.matchAll(/^\| (?:<a id="[\w-]+"><\/a>)?`([^`]+)` \| (.*) \|$/gm)].map(
      ([, name = '', cells = '']) => topicOf(name, cells.split(' | '), section, retryable),
    );
  });
}

const namesIn = (text: string): string[] => [...text.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);

function topicOf(
  name: string,
  cells: readonly string[],
  { kind, columns }: (typeof sections)[string],
  retryable: readonly string[],
): Topic {
  const named = columns.map((column, at): [string, string] => [column, plainText(cells[at] ?? '')]);
  const facts = named.filter(([column, text]) => column !== 'text' && text.trim() !== '');
  const text = Object.fromEntries(named)['text'] ?? '';
  return {
    name,
    kind,
    text: kind === 'check of doctor' ? `It is not ok when ${text}.` : text,
    facts: {
      ...Object.fromEntries(facts),
      ...(kind === 'reason of an outcome'
        ? { 'a retry may help': retryable.includes(name) ? 'yes, without another change' : 'no' }
        : {}),
    },
  };
}

/** Markdown as text: `[api.md](api.md)` is `docs/api.md`, a link within the page is its text. */
const plainText = (markdown: string): string =>
  markdown
    .replace(/\[`?([^\]`]*)`?\]\(([^)]*)\)/g, (_, label: string, target: string) =>
      target.endsWith(label) && target !== label.replace(/^#?/, '#') ? `docs/${target}` : label,
    )
    .replaceAll('`', '')
    .trim();

// Functions of CEL.

function functionTopics(): Topics {
  const names = Object.keys(functionDocs);
  return {
    names: () => names,
    find: (word) => {
      const asked = word.replace(/\(.*$/, '').toLowerCase();
      return names.flatMap((name) => {
        const doc = functionDocs[name];
        if (!doc || name.toLowerCase() !== asked) return [];
        const { signature, text, example } = doc;
        return [{ name, kind: 'CEL function', text, facts: { called: signature }, example }];
      });
    },
  };
}

// Operations of the service, from the contract.

export function operationTopics(): Topics {
  const names = Object.keys(operations);
  return {
    names: () => names,
    find: (word) => {
      const name = names.find((one) => one.toLowerCase() === word.toLowerCase());
      return name !== undefined && isOperationId(name) ? [operationTopic(name)] : [];
    },
  };
}

const effects = {
  once: 'changes the account with every request, so a lost answer is reconciled before it is sent again',
  repeatable: 'changes the account; a repeated request has the same effect',
};

function operationTopic(id: OperationId): Topic {
  const operation = operationOf(id);
  const { section, summary, method, path, list, effect } = operation;
  const destructive = whyDestructive(id);
  const cost = list?.paged ? 'one request for each page of up to 100 items' : 'one request';
  return {
    name: id,
    kind: 'operation of the service',
    text: summary,
    facts: {
      request: `${method} ${path}`,
      effect: effect ? effects[effect] : 'none: it only reads',
      destructive: destructive === undefined ? 'no' : `yes: ${destructive}`,
      cost: `${cost} of the account's requests per minute`,
      specification: `section ${section} (docs/api.md)`,
    },
    example: exampleOf(id, operation),
    details: describeOperation(id)
      .split('\n\n')
      .slice(1)
      .filter((part) => !/^(Effect|Example)\n/.test(part))
      .join('\n'),
  };
}
