/** The parts that all pages share. JSX escapes every text; no HTML is written as a string. */
import { html } from 'hono/html';
import type { Child } from 'hono/jsx';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { Principal } from '../../access/principal.ts';
import { principalOf } from '../auth/caller.ts';
import { clientPath } from '../http/client-files.ts';
import type { DashboardContext, Exchange } from '../http/context.ts';
import { type Toast, takeToast } from '../http/toast.ts';
import { type Counters, noCounters, readCounters } from '../queries/counters.ts';
import { type Alert, alertsOf, systemStatusOf } from '../queries/system-status.ts';
import { type AccountChoice, accountIn, accountPath } from './account-menu.tsx';
import { AlertsContext, NowContext, PrincipalContext, ReasonsContext } from './contexts.tsx';
import { ICON, Icon } from './icon.tsx';
import { Sidebar } from './sidebar.tsx';
import { type Theme, TopBar, themeOf } from './top-bar.tsx';

interface PageProps {
  title: string;
  /** The path of the sidebar's entry that the page belongs to. */
  here?: string;
  /** The run whose events make `client/live.ts` read the page again, or `*` for any run. */
  live?: string;
  /** What was searched for. */
  search?: string;
  /**
   * The page shows only one account when its address asks for one. `pagedBy`: the parameter of the address with the
   * place in its list.
   */
  byAccount?: { pagedBy?: string };
}

interface LayoutProps extends Omit<PageProps, 'byAccount'> {
  /** Who reads it. For no one, a page has no frame and no script. */
  principal: Principal | undefined;
  theme?: Theme;
  alerts?: readonly Alert[];
  counters?: Counters;
  toast?: Toast | undefined;
  /** Missing on a page that is not about accounts. */
  choice?: AccountChoice | undefined;
  /** When the page was made; relative times count from it. */
  now?: number;
  children: Child;
}

/** A whole page. Its parts with `data-live` and an `id` are updated when something changed. */
export const Layout = (props: LayoutProps) => {
  const {
    title,
    principal,
    theme = 'system',
    here,
    live,
    now,
    search,
    alerts,
    counters,
    toast,
    choice,
    children,
  } = props;
  return (
    <html lang="en" {...(theme === 'system' ? {} : { 'data-theme': theme })}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="robots" content="noindex" />
        <title>{`${title} · Caretaker`}</title>
        <link rel="icon" href={ICON} />
        <link rel="stylesheet" href={clientPath('style.css')} />
        {principal && <script type="module" src={clientPath('live.js')}></script>}
      </head>
      <body
        {...(principal === undefined ? {} : { class: 'framed' })}
        {...(live === undefined ? {} : { 'data-live-on': live })}
        {...(choice === undefined ? {} : { 'data-account': choice.chosen ?? '' })}
        {...(now === undefined ? {} : { 'data-now': now })}
      >
        {principal && (
          <>
            <a class="skip" href="#main">
              Skip to the content
            </a>
            <Sidebar
              principal={principal}
              here={here}
              counters={counters ?? noCounters}
              account={choice?.chosen}
            />
            <TopBar principal={principal} theme={theme} alerts={alerts} search={search} choice={choice} />
          </>
        )}
        <main id="main">
          <PrincipalContext.Provider value={principal}>{children}</PrincipalContext.Provider>
        </main>
        {toast && <ToastLine toast={toast} />}
        {principal && (
          <>
            <dialog id="ask" aria-labelledby="question-title"></dialog>
            <Help />
          </>
        )}
      </body>
    </html>
  );
};

/** Sends a page as it is. */
export const asPage = (
  c: Exchange,
  page: Child,
  status: ContentfulStatusCode = 200,
): Response | Promise<Response> => c.html(html`<!doctype html>${page}`, status);

/** Sends a page to a person who is signed in, with the frame around it. */
export async function showPage(
  c: Exchange,
  context: DashboardContext,
  { status = 200, byAccount, ...props }: PageProps & { status?: ContentfulStatusCode },
  content: Child,
): Promise<Response> {
  const systemStatus = await systemStatusOf(context);
  const chosen = byAccount && accountIn((name) => c.req.query(name));
  const counters = await readCounters(context.reader, systemStatus, context.policies(), chosen);
  const url = new URL(c.req.url);
  const choice = byAccount && {
    accounts: systemStatus.accounts.map(({ account }) => account),
    chosen,
    pathOf: (account: string | undefined) => accountPath(url, byAccount.pagedBy, account),
  };
  const alerts = alertsOf(systemStatus);
  return asPage(
    c,
    <NowContext.Provider value={systemStatus.now}>
      <ReasonsContext.Provider value={context.reasons}>
        <AlertsContext.Provider value={alerts}>
          <Layout
            {...props}
            principal={principalOf(c)}
            theme={themeOf(c)}
            alerts={alerts}
            counters={counters}
            now={systemStatus.now}
            toast={takeToast(c, context)}
            choice={choice}
          >
            {content}
          </Layout>
        </AlertsContext.Provider>
      </ReasonsContext.Provider>
    </NowContext.Provider>,
    status,
  );
}

/** The dialog with the keyboard shortcuts; `client/keyboard.ts` opens it. */
const shortcuts = [
  [['/', 'Ctrl K'], 'Search'],
  [['j', 'k'], 'Next, previous row of a list'],
  [['Enter'], 'Open the row'],
  [['x'], 'Select the row, where rows can be selected'],
  [['n'], 'Show the new rows of the list'],
  [['Esc'], 'Close, or leave the field'],
  [['?'], 'This help'],
] as const;

const Help = () => (
  <dialog id="help" aria-labelledby="help-title">
    <h2 id="help-title">Keyboard shortcuts</h2>
    <dl>
      {shortcuts.map(([keys, meaning]) => (
        <>
          <dt>
            {keys.map((key) => (
              <>
                <kbd>{key}</kbd>{' '}
              </>
            ))}
          </dt>
          <dd>{meaning}</dd>
        </>
      ))}
    </dl>
    <form method="dialog">
      <p class="actions">
        <button type="submit">Close</button>
      </p>
    </form>
  </dialog>
);

/** What was just done. It leaves by itself (CSS), unless it failed, or a person points at it or focuses its link. */
const ToastLine = ({ toast: { text, link, isFailure } }: { toast: Toast }) => (
  <p class={isFailure ? 'toast failure' : 'toast'} role="status">
    <Icon name={isFailure ? 'circle-x' : 'circle-check'} />
    <span>{text}</span>
    {link && <a href={link.path}>{link.word}</a>}
  </p>
);
