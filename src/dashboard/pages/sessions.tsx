/** Where the reader is signed in. It is of one reader alone, so it has no live part. */

import { ownSessions } from '../auth/cookie.ts';
import type { FoundSession } from '../auth/sessions.ts';
import { Action } from '../components/action.tsx';
import { showPage } from '../components/layout.tsx';
import { Cut, Table } from '../components/table.tsx';
import { span, Time } from '../components/time.tsx';
import type { DashboardContext, Exchange } from '../http/context.ts';

const END = '/sessions/end';

export async function showSessions(c: Exchange, context: DashboardContext): Promise<Response> {
  const { own, others } = await ownSessions(c, context);
  const { idleMs, maxMs } = context.access().sessions;
  return showPage(
    c,
    context,
    { title: 'Your sessions', here: '/sessions' },
    <section>
      <div class="page-head">
        <h1>Your sessions</h1>
        {others.length > 0 && (
          <Action to={END} icon="log-out">
            Sign out everywhere else
          </Action>
        )}
      </div>
      <Table
        name="Your sessions"
        columns={(column) => [
          column('Browser', '', ({ browser }: FoundSession) => <Cut whole={browser} />),
          column('Address', 'w-name', ({ address }) => <Cut whole={address} />),
          column('Signed in', 'w-when', ({ begunAt }) => <Time at={begunAt} show="exact" />),
          column('Last used', 'w-last', ({ usedAt }) => <Time at={usedAt} show="relative" />),
          column('Action', 'w-do end', (one) =>
            one === own ? (
              <span class="dim">this one</span>
            ) : (
              <Action to={`${END}?session=${one.hash}`} of={one.browser}>
                Sign out
              </Action>
            ),
          ),
        ]}
        rows={own ? [own, ...others] : others}
        keyOf={({ hash }) => hash}
      />
      <p class="dim">
        A session ends when it was not used for {span(idleMs)}, and {span(maxMs)} after its sign-in. “Last
        used” is right to a minute.
      </p>
    </section>,
  );
}
