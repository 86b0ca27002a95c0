/** Quotes as word processors write them. For YAML they are a part of the text that they are around. */
const mark = '[\u2018-\u201f]';
const around = new RegExp(`^(${mark}).*?(${mark}?)$|^.*(${mark})$`, 's');

/**
 * What to write for an unquoted text with such quotes around it; undefined for any other text. Without the text,
 * which may be a secret. One that only ends with a quote is an expression, or the rest of a text that YAML has cut at
 * a comma and takes for a key.
 */
export function insteadOfTypographic(source: string, at: 'key' | 'value'): string | undefined {
  const [, open, close, only] = around.exec(source) ?? [];
  const found = open ?? (at === 'key' ? only : undefined);
  if (found === undefined) return undefined;
  return `${open && close ? `${open} and ${close} are not quotes` : `${found} is not a quote`} for YAML: write " or '`;
}

/** A remark for each text with such quotes that is valid all the same: a description, a name. */
export function typographicTexts(
  value: unknown,
  insteadAt: (path: readonly PropertyKey[]) => string | undefined,
  at: readonly PropertyKey[] = [],
): [readonly PropertyKey[], { message: string; suggestion: string }][] {
  if (typeof value === 'string') {
    const suggestion = insteadAt(at);
    return suggestion === undefined
      ? []
      : [[at, { message: 'The quotes are a part of this text.', suggestion }]];
  }
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    typographicTexts(inner, insteadAt, [...at, Array.isArray(value) ? Number(key) : key]),
  );
}
