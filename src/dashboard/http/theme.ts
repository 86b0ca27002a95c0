import { getCookie } from 'hono/cookie';
import type { Exchange } from './context.ts';

export const themes = ['light', 'dark', 'system'] as const;
export type Theme = (typeof themes)[number];

/** The theme that the reader chose; `client/live.ts` sets the cookie, so that a page has it from the beginning. */
export const themeOf = (c: Exchange): Theme =>
  themes.find((one) => one === getCookie(c, 'caretaker_theme')) ?? 'system';
