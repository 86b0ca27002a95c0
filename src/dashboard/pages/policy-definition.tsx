import { Lexer } from 'yaml';
import { yamlWithDefaults } from '../../policy/with-defaults.ts';
import { scrub } from '../../secrets.ts';
import { shortFile } from '../../yaml/diagnostic.ts';
import { policyTab } from './policy.tsx';

/** The policy with every default, and where its file has it. */
export const showDefinition = policyTab('Definition', (_, { control: { registry } }, policy) => {
  const { file, line, hash } = policy;
  return (
    <section id="definition" class="tab" data-live>
      <p>
        From <code>{line === undefined ? shortFile(file) : `${shortFile(file)}:${line}`}</code>, with what{' '}
        <code>defaults</code>, <code>vars</code> and <code>matrix</code> of the file make of it. Values with{' '}
        <code># default</code> hold without being written. <span class="dim">Version {hash}.</span>
      </p>
      <Yaml name={`Definition of ${policy.name}`} text={scrub(yamlWithDefaults(policy, registry))} />
    </section>
  );
});

/** YAML with colours and line numbers. The tokens are those of the `yaml` package, so nothing is sent for it. */
interface Piece {
  text: string;
  is?: 'key' | 'text' | 'value' | 'comment';
}

interface CodeProps {
  text: string;
  /** What it is, for screen readers. */
  name: string;
  /** The number of the first line. */
  from?: number;
  /** The lines to point at. */
  marked?: readonly number[];
}

export const Yaml = ({ text, name, from = 1, marked = [] }: CodeProps) => (
  <section class="code" aria-label={name}>
    <pre tabindex={0}>
      <code>
        {linesOf(piecesOf(text)).map((pieces, index) => (
          <span class={marked.includes(from + index) ? 'line marked' : 'line'} data-n={from + index}>
            {pieces.map(({ text: part, is }) => (is ? <span class={is}>{part}</span> : part))}
          </span>
        ))}
      </code>
    </pre>
  </section>
);

/** What the lexer writes between tokens: byte-order mark, document, flow end, next scalar. */
const CONTROLS = new Set(['\uFEFF', '\x02', '\x18', '\x1f']);

function piecesOf(text: string): Piece[] {
  const pieces: Piece[] = [];
  let isScalar = false;
  for (const token of new Lexer().lex(text)) {
    if (CONTROLS.has(token)) {
      isScalar = token === '\x1f';
      continue;
    }
    if (token === ':') markKey(pieces);
    pieces.push({ text: token, ...kindOf(token, isScalar) });
    isScalar = false;
  }
  return pieces;
}

function kindOf(token: string, isScalar: boolean): Pick<Piece, 'is'> {
  if (token.startsWith('#') && !isScalar) return { is: 'comment' };
  if (/^["']/.test(token)) return { is: 'text' };
  return isScalar ? { is: 'value' } : {};
}

/** The scalar before a colon is a key. */
function markKey(pieces: Piece[]): void {
  const key = pieces.findLast(({ text }) => text.trim() !== '');
  if (key?.is === 'value' || key?.is === 'text') key.is = 'key';
}

function linesOf(pieces: readonly Piece[]): Piece[][] {
  const lines: Piece[][] = [[]];
  for (const piece of pieces) {
    for (const [index, text] of piece.text.split('\n').entries()) {
      if (index > 0) lines.push([]);
      if (text !== '') lines.at(-1)?.push({ ...piece, text });
    }
  }
  // The end of the last line begins no new one.
  if (lines.length > 1 && lines.at(-1)?.length === 0) lines.pop();
  return lines;
}
