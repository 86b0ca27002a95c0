/**
 * Suggestions for the fields of the search: the first results while a person types, as links below the field. Enter opens
 * the first, or the one that was chosen with the arrow keys.
 */
import { pathHere } from './path-here.ts';

interface Suggestion {
  kind: string;
  title: string;
  about: string;
  href: string;
}

/** After the last key. */
const WAIT_MS = 80;

function suggest(field: HTMLInputElement, number: number): void {
  const list = document.createElement('div');
  list.id = `suggestions-${number}`;
  list.className = 'suggestions';
  list.setAttribute('role', 'listbox');
  list.setAttribute('aria-label', 'Suggestions');
  list.hidden = true;
  (field.closest('form') ?? field).after(list);
  for (const [name, value] of Object.entries({
    role: 'combobox',
    'aria-autocomplete': 'list',
    'aria-controls': list.id,
    'aria-expanded': 'false',
  }))
    field.setAttribute(name, value);

  let chosen = -1;
  /** The text whose suggestions are shown. */
  let shown = '';
  let asking: AbortController | undefined;
  let waiting: ReturnType<typeof setTimeout> | undefined;
  const options = () => [...list.querySelectorAll<HTMLAnchorElement>('a')];
  const close = () => {
    list.hidden = true;
    chosen = -1;
    field.setAttribute('aria-expanded', 'false');
    field.removeAttribute('aria-activedescendant');
  };
  const choose = (index: number) => {
    const all = options();
    chosen = all.length === 0 ? -1 : (index + all.length) % all.length;
    for (const [at, option] of all.entries()) option.setAttribute('aria-selected', String(at === chosen));
    const one = all[chosen];
    if (!one) return;
    field.setAttribute('aria-activedescendant', one.id);
    one.scrollIntoView({ block: 'nearest' });
  };
  const show = (suggestions: readonly Suggestion[], text: string) => {
    list.replaceChildren(...suggestions.map((one, at) => optionOf(one, `${list.id}-${at}`)));
    shown = text;
    list.hidden = suggestions.length === 0;
    chosen = -1;
    field.setAttribute('aria-expanded', String(!list.hidden));
    field.removeAttribute('aria-activedescendant');
  };
  const ask = async () => {
    const text = field.value.trim();
    asking?.abort();
    if (text === '') return close();
    const current = new AbortController();
    asking = current;
    try {
      const answer = await fetch(pathHere(`/search/suggestions?q=${encodeURIComponent(text)}`), {
        signal: current.signal,
      });
      // The session has ended: the page that opens next leads to the sign-in.
      if (!answer.ok || answer.redirected) return;
      const { results } = (await answer.json()) as { results: Suggestion[] };
      if (asking === current) show(results, text);
    } catch {
      // A newer text is asked for, or the server is away: Enter leads to the page of the search.
    }
  };
  field.addEventListener('input', () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => void ask(), WAIT_MS);
  });
  field.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') return close();
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      if (list.hidden) return;
      event.preventDefault();
      choose(event.key === 'ArrowDown' ? chosen + 1 : Math.max(chosen, 0) - 1);
      return;
    }
    // Only what belongs to the text: a person may press Enter before its suggestions are there.
    const isShown = !list.hidden && shown === field.value.trim();
    const target = options()[Math.max(chosen, 0)];
    if (event.key !== 'Enter' || !isShown || !target) return;
    event.preventDefault();
    location.assign(target.href);
  });
  field.addEventListener('blur', () => {
    // After the click on a suggestion.
    setTimeout(() => {
      if (!list.contains(document.activeElement)) close();
    }, 150);
  });
}

function optionOf({ kind, title, about, href }: Suggestion, id: string): HTMLAnchorElement {
  const option = document.createElement('a');
  option.id = id;
  option.href = pathHere(href);
  option.tabIndex = -1;
  option.setAttribute('role', 'option');
  option.setAttribute('aria-selected', 'false');
  const part = (className: string, text: string) => {
    const span = document.createElement('span');
    span.className = className;
    span.textContent = text;
    return span;
  };
  option.append(part('title', title), ' ', part('kind', kind), ' ', part('about', about));
  return option;
}

/** Adds suggestions to every field of the search. */
export function suggestWhileTyping(): void {
  const fields = document.querySelectorAll<HTMLInputElement>('form[action$="/search"] input[name="q"]');
  for (const [index, field] of fields.entries()) suggest(field, index);
}
