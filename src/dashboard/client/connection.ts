/**
 * Says on an open page what it does not know: without contact to the server or to Redis, with an ended session, or when
 * what it shows was removed, there is a bar with the time of the last contact, states are grey (`frame.css`), and nothing
 * can be changed.
 */
import { formatClock } from './local-times.ts';

export type Loss = 'server' | 'redis' | 'session' | 'gone';

const says: Record<Loss, (at: string) => string> = {
  server: (at) => `No connection to Caretaker since ${at}. What you see is as of then.`,
  redis: (at) => `Caretaker has no connection to Redis since ${at}. What you see is as of then.`,
  gone: (at) => `This is not there any more. What you see is as of ${at}.`,
  session: (at) => `Your session has ended. What you see is as of ${at}.`,
};

const CHANGES = 'form[method=post] button, [data-asks]';

export interface Connection {
  readonly loss: Loss | undefined;
  /** `since`: when the page was last known to be current. */
  lose(loss: Loss, since: number): void;
  /** The page is current again. */
  regain(): void;
}

export function openConnection(): Connection {
  const bar = document.createElement('div');
  bar.id = 'lost';
  bar.setAttribute('role', 'alert');
  let loss: Loss | undefined;
  const disable = (isLost: boolean) => {
    for (const one of document.querySelectorAll(CHANGES)) {
      if (isLost) one.setAttribute('aria-disabled', 'true');
      else one.removeAttribute('aria-disabled');
    }
  };
  const stopChange = (event: Event) => {
    const { target } = event;
    // Without a session the server changes nothing: it asks to sign in, and shows the form again.
    if (
      !loss ||
      loss === 'session' ||
      !(target instanceof Element) ||
      !target.closest('form[method=post], [data-asks]')
    )
      return;
    if (event.type === 'click' && !target.closest(CHANGES)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
  };
  for (const type of ['click', 'submit']) document.addEventListener(type, stopChange, { capture: true });
  return {
    get loss() {
      return loss;
    },
    lose(next, since) {
      if (loss === next) return;
      loss = next;
      bar.textContent = says[next](formatClock(new Date(since)));
      if (next === 'session') {
        // The server asks to sign in, and leads back.
        const link = document.createElement('a');
        link.href = location.href;
        link.textContent = 'Sign in';
        bar.append(' ', link);
      }
      document.querySelector('main')?.before(bar);
      document.body.classList.add('lost');
      disable(next !== 'session');
    },
    regain() {
      if (!loss) return;
      loss = undefined;
      bar.remove();
      document.body.classList.remove('lost');
      disable(false);
    },
  };
}
