/** Finds the character of a YAML file from which a character of a value came. */
import type { Range, Scalar } from 'yaml';

/**
 * The offset in `text` of character `index` of the scalar's value; for escapes that change what is written,
 * the scalar's start.
 *
 * YAML's indentation, folding and quotes only add or change white space around the value's other characters,
 * so walking both texts in step and skipping white space finds each one.
 */
export function sourceOffset(text: string, scalar: Scalar & { range: Range }, index: number): number {
  const [start, end] = scalar.range;
  const source = text.slice(start, end);
  const value = String(scalar.value);
  if (scalar.type === 'QUOTE_DOUBLE' && /\\[^"\\]/.test(source)) return start;
  const lastAt = value.trimEnd().length;
  let at = contentStart(source, scalar.type);
  for (let i = 0; i < value.length; i++) {
    const wanted = value.charAt(i);
    const blank = /\s/.test(wanted);
    if (!blank) {
      const found = source.indexOf(wanted, at);
      if (found < 0) return start;
      at = found;
    }
    if (i >= Math.min(index, lastAt)) break;
    if (!blank) at += wanted === "'" && scalar.type === 'QUOTE_SINGLE' ? 2 : 1;
    else if (/\s/.test(source.charAt(at))) at++;
  }
  return start + at;
}

function contentStart(source: string, type: Scalar['type']): number {
  if (type === 'QUOTE_DOUBLE' || type === 'QUOTE_SINGLE') return 1;
  const isBlock = type === 'BLOCK_LITERAL' || type === 'BLOCK_FOLDED';
  return isBlock ? source.indexOf('\n') + 1 : 0;
}
