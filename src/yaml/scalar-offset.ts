/** Maps a character of a value to its offset in the YAML file. */
import type { Range, Scalar } from 'yaml';

/**
 * Returns the offset in `text` of character `index` of the value. If the value contains escapes, returns the
 * start of the scalar.
 *
 * Indentation, folding and quotes only add or change white space. So comparing both texts in parallel,
 * without white space, finds each character.
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
