/** What every page has around it. Text given to JSX is escaped; nothing here writes HTML by hand. */
import { html } from 'hono/html';
import type { Child } from 'hono/jsx';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { Exchange } from '../http/parts.ts';

interface LayoutProps {
  title: string;
  /** Pages for those who have not signed in lead nowhere else. */
  signedIn?: boolean;
  /** What `live.js` looks for in events before it reads the page again: a run's id, or `*` for all. */
  live?: string;
  children: Child;
}

/** A whole page. Parts of it with an `id` and `data-live` are read again when something changed. */
export const Layout = ({ title, signedIn = true, live, children }: LayoutProps) => (
  <html lang="en">
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <meta name="color-scheme" content="light dark" />
      <meta name="robots" content="noindex" />
      <title>{`${title} · Caretaker`}</title>
      <link rel="icon" href={ICON} />
      <link rel="stylesheet" href="/style.css" />
      {signedIn && <script src="/live.js" defer></script>}
    </head>
    <body {...(live === undefined ? {} : { 'data-live-on': live })}>
      {signedIn && <Header />}
      <main>{children}</main>
    </body>
  </html>
);

const Header = () => (
  <header>
    <a class="brand" href="/">
      Caretaker
    </a>
    <nav>
      <a href="/">Overview</a>
      <a href="/queues">Queues</a>
      <a href="/metrics">Metrics</a>
    </nav>
    <form method="post" action="/sign-out">
      <button type="submit" class="quiet">
        Sign out
      </button>
    </form>
  </header>
);

/** A tick in a circle. */
const ICON = `data:image/svg+xml,${encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><circle cx="8" cy="8" r="8" fill="#2563c9"/><path d="m4.5 8.5 2.5 2.5 4.5-5.5" fill="none" stroke="#fff" stroke-width="1.8"/></svg>',
)}`;

/** Sends a page. */
export const asPage = (
  c: Exchange,
  page: Child,
  status: ContentfulStatusCode = 200,
): Response | Promise<Response> => c.html(html`<!doctype html>${page}`, status);
