import { pathHere } from './path-here.ts';

/** Pages that are laid out by days have the reader's time zone in their address: the server cannot know it otherwise. */
export function followZone(): void {
  const { timeZone } = new Intl.DateTimeFormat().resolvedOptions();
  if (timeZone !== 'UTC')
    for (const link of document.querySelectorAll<HTMLAnchorElement>('nav.side a')) {
      const url = new URL(link.href);
      if (url.pathname !== pathHere('/schedule')) continue;
      url.searchParams.set('zone', timeZone);
      link.href = url.href;
    }
  const url = new URL(location.href);
  if (!document.querySelector('[data-zone]') || timeZone === (url.searchParams.get('zone') ?? 'UTC')) return;
  url.searchParams.set('zone', timeZone);
  location.replace(url);
}
