/**
 * Texts with CEL in them: `Last good sync {{ago(site.sync.last_sync_at)}}`. What stands between `{{` and `}}` is
 * an expression over the same variables as a condition. All of it is checked when the text is loaded.
 */
import { compileExpression, type Expression, ExpressionError, type Variables } from './expression.ts';
import { NotShownError } from './fields.ts';

export interface Template {
  /** The expressions in it. */
  expressions: readonly Expression[];
  /**
   * The text for these items of the service, by the names of their variables. `instead` gives the text for an
   * expression that has no value; without it, the error is thrown.
   *
   * @throws {ExpressionError} {NotShownError} as `Expression.of` does.
   */
  of(
    items: Readonly<Record<string, unknown>>,
    now: Date,
    instead?: (error: ExpressionError | NotShownError) => string,
  ): string;
}

type Part = string | Expression;

/** Types whose values have one obvious text. */
const textTypes = /^(string|double|int|bool|timestamp|dyn|list<(string|double|int|bool|timestamp|dyn)>)$/;

/**
 * Compiles a text with expressions over these variables and `now`.
 *
 * @throws {ExpressionError} with the offset in the whole text.
 */
export function compileTemplate(source: string, variables: Variables): Template {
  const parts = partsOf(source, variables);
  return {
    expressions: parts.filter((part) => typeof part !== 'string'),
    of(items, now, instead) {
      const texts = parts.map((part) => {
        if (typeof part === 'string') return part;
        try {
          return textOf(part.of(items, now));
        } catch (error) {
          if (instead && (error instanceof ExpressionError || error instanceof NotShownError))
            return instead(error);
          throw error;
        }
      });
      return texts.join('');
    },
  };
}

function partsOf(source: string, variables: Variables): Part[] {
  const parts: Part[] = [];
  let at = 0;
  for (;;) {
    const open = source.indexOf('{{', at);
    if (open < 0) return [...parts, source.slice(at)];
    const close = endOf(source, open + 2);
    if (close === undefined) {
      throw new ExpressionError({
        message: '"{{" has no "}}" after it.',
        offset: open,
        suggestion: 'write {{site.url}}',
      });
    }
    parts.push(source.slice(at, open), compilePart(source.slice(open + 2, close), open + 2, variables));
    at = close + 2;
  }
}

/** Where the `}}` stands that ends an expression: one inside quotes does not. */
function endOf(source: string, from: number): number | undefined {
  const pattern = /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\}\}/gs;
  pattern.lastIndex = from;
  for (let match = pattern.exec(source); match; match = pattern.exec(source)) {
    if (match[0] === '}}') return match.index;
  }
  return undefined;
}

function compilePart(written: string, offset: number, variables: Variables): Expression {
  const lead = written.length - written.trimStart().length;
  const start = offset + lead;
  if (written.trim() === '')
    throw new ExpressionError({ message: 'There is no expression between "{{" and "}}".', offset });
  try {
    const expression = compileExpression(written.trim(), variables);
    if (textTypes.test(expression.type)) return expression;
    throw new ExpressionError({
      message: `The expression must give a text, a number, true or false, a time or a list of these, but it is ${expression.type}.`,
      offset: 0,
      suggestion: expression.type === 'duration' ? 'write string(...), or ago(time)' : undefined,
    });
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    const { message, suggestion } = error;
    throw new ExpressionError({ message, suggestion, offset: start + (error.offset ?? 0) }, { cause: error });
  }
}

function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.map(textOf).join(', ');
  return String(value ?? '').replace(/^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\.000Z$/, '$1Z');
}
