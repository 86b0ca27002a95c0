/** The parts that all pages share. JSX escapes every text; no HTML is written as a string. */
import { html } from 'hono/html';
import type { Child } from 'hono/jsx';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { DashboardContext, Exchange } from '../http/context.ts';
import type { BrokenFile } from '../options.ts';
import { type Alert, alertsOf, systemStatusOf } from '../queries/system-status.ts';
import { ReasonsContext, Sentence, Time } from './components.tsx';

interface PageProps {
  title: string;
  /** The entry of the menu that the page belongs to. */
  here?: string;
  /** The run whose events make `client/live.ts` read the page again, or `*` for any run. */
  live?: string;
}

interface LayoutProps extends PageProps {
  /** Without a session, a page has no menu and no script. */
  signedIn?: boolean;
  /** When the page was made; relative times count from it. */
  now?: number;
  children: Child;
}

/** A whole page. Its parts with `data-live` and an `id` are updated when something changed. */
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

/** At most so many notices are shown; the others can be opened. */
const MAX_NOTICES = 3;
/** At most so many errors and policies of a broken file are shown. */
const MAX_ERRORS = 20;
const MAX_KEPT = 100;

/**
 * The notices, at the lower edge of every page: there nothing moves when one appears. Screen readers announce
 * changes.
 */
const Notices = ({ alerts, now }: { alerts: readonly Alert[]; now: number }) => (
  <div id="warnings" data-live aria-live="polite">
    {alerts.slice(0, MAX_NOTICES).map((alert) => (
      <Notice alert={alert} now={now} />
    ))}
    {alerts.length > MAX_NOTICES && (
      <details class="note more" data-key="more">
        <summary>
          <span class="sentence">
            {alerts.length === MAX_NOTICES + 1
              ? '1 more notice'
              : `${alerts.length - MAX_NOTICES} more notices`}
          </span>
        </summary>
        {alerts.slice(MAX_NOTICES).map((alert) => (
          <Notice alert={alert} now={now} />
        ))}
      </details>
    )}
  </div>
);

/** One notice. It has one or two lines until it is opened. */
const Notice = ({ alert: { is, sentence, since, file }, now }: { alert: Alert; now: number }) => (
  <details class={`note is-${is}`} data-key={file?.file ?? sentence}>
    <summary>
      <span class="sentence">
        <Sentence text={sentence} />{' '}
        {since !== undefined && (
          <span class="dim">
            Since <Time at={since} now={now} />.
          </span>
        )}
      </span>
    </summary>
    {file && <FileErrors file={file} now={now} />}
  </details>
);

const FileErrors = ({ file: { errors, kept }, now }: { file: BrokenFile; now: number }) => (
  <>
    {errors.slice(0, MAX_ERRORS).map(({ place, message, suggestion, frame }) => (
      <>
        <p>
          <code>{place}</code> {message} {suggestion}
        </p>
        {frame && <pre tabindex={0}>{frame}</pre>}
      </>
    ))}
    {errors.length > MAX_ERRORS && (
      <p>
        And {errors.length - MAX_ERRORS} more: <code>caretaker validate</code> shows all.
      </p>
    )}
    {kept.length > 0 && (
      <>
        <p>Active in their previous version:</p>
        <ul>
          {kept.slice(0, MAX_KEPT).map(({ name, readAt }) => (
            <li>
              {name}, read <Time at={readAt} now={now} />
            </li>
          ))}
          {kept.length > MAX_KEPT && <li>and {kept.length - MAX_KEPT} more</li>}
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

/** Sends a page to somebody who is signed in, with the notices. */
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
        <Notices alerts={alertsOf(systemStatus)} now={now} />
      </Layout>
    </ReasonsContext.Provider>,
    status,
  );
}
