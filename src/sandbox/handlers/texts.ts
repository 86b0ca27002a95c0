/** Texts in requests that must have a certain form. */
import { cannot } from '../refusal.ts';

export const isEmail = (text: string): boolean => /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(text);

/** @throws {Refusal} 422 unless it is an e-mail address. */
export function requireEmail(text: string): void {
  if (!isEmail(text)) throw cannot('invalid_email', `"${text}" is no e-mail address.`);
}

/** @throws {Refusal} 422 unless it is `#rgb` or `#rrggbb`. */
export function requireColor(text: string): void {
  if (!/^#([\da-f]{3}|[\da-f]{6})$/i.test(text)) throw cannot('invalid_color', 'A color is written #rrggbb.');
}
