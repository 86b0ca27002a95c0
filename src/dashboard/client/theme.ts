import { pathHere } from './path-here.ts';

/** Applies the theme that the reader chooses, and keeps it in a cookie for the next pages. */
export function followTheme(): void {
  document.getElementById('theme')?.addEventListener('change', ({ target }) => {
    if (!(target instanceof HTMLInputElement)) return;
    const { value } = target;
    if (value === 'system') delete document.documentElement.dataset['theme'];
    else document.documentElement.dataset['theme'] = value;
    // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API is missing in some browsers.
    document.cookie = `caretaker_theme=${value}; path=${pathHere('/')}; max-age=31536000; samesite=strict`;
  });
}
