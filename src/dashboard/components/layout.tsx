/** What every page has around it. Text given to JSX is escaped; nothing here writes HTML by hand. */
import { html } from 'hono/html';
import type { Child } from 'hono/jsx';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { DashboardContext, Exchange } from '../http/context.ts';
import type { BrokenFile } from '../options.ts';
import { type Alert, alertsOf, systemStatusOf } from '../queries/system-status.ts';
import { ReasonsContext, Sentence, Time } from './components.tsx';

interface PageProps {
  title: string;
  /** The page of the menu that this is, or belongs to. */
  here?: string;
  /** What `client/live.ts` looks for in events before it reads the page again: a run's id, or `*` for all. */
  live?: string;
}

interface LayoutProps extends PageProps {
  /** Pages for those who have not signed in lead nowhere else. */
  signedIn?: boolean;
  /** The moment the page was made, for what it says of moments. */
  now?: number;
  children: Child;
}

/**
 * A whole page. Parts of it with an `id` and `data-live` are read again when something changed.
 */
export const Layout = ({ title, signedIn = true, here, live, now, children }: LayoutProps) => (
  <html lang="en">
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <meta name="color-scheme" content="light dark" />
      <meta name="robots" content="noindex" />
      <title>{`${title} · Caretaker`}</title>
      <link rel="icon" href={ICON} />
      <link rel="stylesheet" href="/client/style.css" />
      {signedIn && <script type="module" src="/client/live.js"></script>}
    </head>
    <body
      {...(live === undefined ? {} : { 'data-live-on': live })}
      {...(now === undefined ? {} : { 'data-now': now })}
    >
      {signedIn && <Header here={here} />}
      <main id="main">{children}</main>
      {signedIn && (
        <footer class="dim">
          <p id="zone">Times are in UTC.</p>
        </footer>
      )}
    </body>
  </html>
);

const menu = [
  ['/', 'Overview'],
  ['/runs', 'Runs'],
  ['/system', 'System'],
  ['/queues', 'Queues'],
] as const;

const Header = ({ here }: { here: string | undefined }) => (
  <>
    <a class="skip" href="#main">
      Skip to the content
    </a>
    <header>
      <a class="brand" href="/">
        Caretaker
      </a>
      <nav aria-label="Main">
        {menu.map(([path, word]) => (
          <a href={path} {...(path === here ? { 'aria-current': 'page' } : {})}>
            {word}
          </a>
        ))}
      </nav>
      <form method="post" action="/sign-out">
        <button type="submit" class="quiet">
          Sign out
        </button>
      </form>
    </header>
  </>
);

/** So many notices are on a page; the others can be opened. */
const NOTICES = 3;
/** Of a broken file, so many errors and policies are shown. */
const MISTAKES = 20;
const KEPT = 100;

/**
 * What stands in the way, at the lower edge of every page, where it moves nothing when it comes or goes; said
 * aloud when it changes.
 */
const Obstacles = ({ obstacles, now }: { obstacles: readonly Alert[]; now: number }) => (
  <div id="warnings" data-live aria-live="polite">
    {obstacles.slice(0, NOTICES).map((obstacle) => (
      <Notice obstacle={obstacle} now={now} />
    ))}
    {obstacles.length > NOTICES && (
      <details class="note more" data-key="more">
        <summary>
          <span class="says">
            {obstacles.length === NOTICES + 1
              ? '1 more notice'
              : `${obstacles.length - NOTICES} more notices`}
          </span>
        </summary>
        {obstacles.slice(NOTICES).map((obstacle) => (
          <Notice obstacle={obstacle} now={now} />
        ))}
      </details>
    )}
  </div>
);

/** One notice: a line or two, which can be opened when they do not show all of it. */
const Notice = ({ obstacle: { is, sentence, since, file }, now }: { obstacle: Alert; now: number }) => (
  <details class={`note is-${is}`} data-key={file?.file ?? sentence}>
    <summary>
      <span class="says">
        <Sentence text={sentence} />{' '}
        {since !== undefined && (
          <span class="dim">
            Since <Time at={since} now={now} />.
          </span>
        )}
      </span>
    </summary>
    {file && <Mistakes file={file} now={now} />}
  </details>
);

const Mistakes = ({ file: { mistakes, kept }, now }: { file: BrokenFile; now: number }) => (
  <>
    {mistakes.slice(0, MISTAKES).map(({ place, message, suggestion, frame }) => (
      <>
        <p>
          <code>{place}</code> {message} {suggestion}
        </p>
        {frame && <pre tabindex={0}>{frame}</pre>}
      </>
    ))}
    {mistakes.length > MISTAKES && (
      <p>
        And {mistakes.length - MISTAKES} more: <code>caretaker validate</code> shows all.
      </p>
    )}
    {kept.length > 0 && (
      <>
        <p>Active as they were before:</p>
        <ul>
          {kept.slice(0, KEPT).map(({ name, readAt }) => (
            <li>
              {name}, read <Time at={readAt} now={now} />
            </li>
          ))}
          {kept.length > KEPT && <li>and {kept.length - KEPT} more</li>}
        </ul>
      </>
    )}
  </>
);

/** A tick in a circle. */
const ICON = `data:image/svg+xml,${encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><circle cx="8" cy="8" r="8" fill="#2563c9"/><path d="m4.5 8.5 2.5 2.5 4.5-5.5" fill="none" stroke="#fff" stroke-width="1.8"/></svg>',
)}`;

/** Sends a page as it is. */
export const asPage = (
  c: Exchange,
  page: Child,
  status: ContentfulStatusCode = 200,
): Response | Promise<Response> => c.html(html`<!doctype html>${page}`, status);

/** Sends a page of somebody who is signed in, with what stands in the way, whatever the page is about. */
export async function showPage(
  c: Exchange,
  context: DashboardContext,
  { status = 200, ...props }: PageProps & { status?: ContentfulStatusCode },
  content: Child,
): Promise<Response> {
  const systemStatus = await systemStatusOf(context);
  const { now } = systemStatus;
  return asPage(
    c,
    <ReasonsContext.Provider value={context.reasons}>
      <Layout {...props} now={now}>
        {content}
        <Obstacles obstacles={alertsOf(systemStatus)} now={now} />
      </Layout>
    </ReasonsContext.Provider>,
    status,
  );
}
