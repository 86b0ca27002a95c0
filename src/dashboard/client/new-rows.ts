/**
 * Keeps lists steady that grow at the top (`data-grows` on the table, with the word for its rows): while the head of
 * the list is out of sight, new rows wait behind a button that says how many there are.
 */

interface Waiting {
  table: HTMLTableElement;
  count: number;
  /** None of the rows that are shown is on the newer page: there may be more than it has. */
  isMore: boolean;
}

export interface NewRows {
  /** Takes the new rows out of `fresh` that would push down what a person reads in `old`. */
  hold(old: Element, fresh: Element): void;
}

const rowsOf = (table: Element): HTMLElement[] => [
  ...table.querySelectorAll<HTMLElement>('tbody > tr[data-key]'),
];
const keyOf = ({ dataset }: HTMLElement): string => dataset['key'] ?? '';

/** Whether the head of a list is behind the top bar, or further up. */
const isAbove = (table: Element): boolean => {
  const bar = document.querySelector('header.top')?.getBoundingClientRect().bottom ?? 0;
  return table.getBoundingClientRect().top < bar;
};

/** `showAll` brings the page up to date again, with the rows that waited. */
export function followNewRows(showAll: () => void): NewRows {
  const place = document.createElement('div');
  place.id = 'new-rows';
  place.setAttribute('role', 'status');
  document.querySelector('main')?.prepend(place);
  let waiting: Waiting | undefined;
  let isReleased = false;

  const say = (found: Waiting | undefined) => {
    waiting = found;
    if (!found) return place.replaceChildren();
    const text = `${found.count}${found.isMore ? '+' : ''} new`;
    const word = found.table.dataset['grows'] ?? 'rows';
    const button = place.querySelector('button') ?? document.createElement('button');
    if (button.textContent === text) return;
    button.type = 'button';
    button.textContent = text;
    button.setAttribute('aria-label', `${text} ${word}: show them`);
    if (!button.isConnected) place.replaceChildren(button);
  };
  const release = () => {
    isReleased = true;
    showAll();
    isReleased = false;
    say(undefined);
  };

  place.addEventListener('click', () => {
    if (!waiting) return;
    const { table } = waiting;
    release();
    window.scrollTo(0, 0);
    // A list that begins further down the page.
    if (table.getBoundingClientRect().top > window.innerHeight / 2) table.scrollIntoView({ block: 'start' });
    table.querySelector<HTMLElement>('tbody a[href]')?.focus({ preventScroll: true });
  });
  // Who goes back to the head of the list sees them there.
  addEventListener('scroll', () => waiting && !isAbove(waiting.table) && release(), { passive: true });

  return {
    hold(old, fresh) {
      const table = old.querySelector<HTMLTableElement>('table[data-grows]');
      if (!table) return;
      const freshBody = fresh.querySelector('table[data-grows] > tbody');
      say(freshBody && !isReleased && isAbove(table) ? takeNew(table, freshBody) : undefined);
    },
  };
}

function takeNew(table: HTMLTableElement, freshBody: Element): Waiting | undefined {
  const shown = rowsOf(table);
  const fresh = rowsOf(freshBody.parentElement ?? freshBody);
  const isShown = new Set(shown.map(keyOf));
  const last = fresh.findLastIndex((row) => isShown.has(keyOf(row)));
  // Rows after the last known one follow at the end, where they move nothing.
  const held = fresh.filter((row, at) => (last < 0 || at < last) && !isShown.has(keyOf(row)));
  if (shown.length === 0 || held.length === 0) return undefined;
  const isFresh = new Set(fresh.map(keyOf));
  const lastKept = shown.findLastIndex((row) => isFresh.has(keyOf(row)));
  for (const row of held) row.remove();
  // The page is full: rows that would leave at its end stay while the new ones wait.
  for (const row of shown.slice(lastKept + 1).slice(0, held.length)) freshBody.append(row.cloneNode(true));
  return { table, count: held.length, isMore: last < 0 };
}
