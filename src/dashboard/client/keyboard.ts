/** Keyboard shortcuts; the dialog `#help` lists them. */

const isField = (element: Element | null): boolean =>
  element instanceof HTMLInputElement ||
  element instanceof HTMLSelectElement ||
  element instanceof HTMLTextAreaElement;

function focusSearch(): void {
  const field = document.getElementById('find');
  if (!(field instanceof HTMLInputElement)) return;
  field.focus();
  field.select();
}

/** Focuses the link of the next or the previous row of a list. */
function moveRow(by: 1 | -1): void {
  const links = [...document.querySelectorAll('main tbody tr:not(.facts), main [data-row]')].flatMap(
    (row) => row.querySelector<HTMLElement>('a[href]') ?? [],
  );
  const current = document.activeElement?.closest('tr, [data-row]');
  const at = links.findIndex((link) => link.closest('tr, [data-row]') === current);
  const next = links[at < 0 ? 0 : at + by];
  next?.focus();
  next?.scrollIntoView({ block: 'nearest' });
}

const openDialog = (id: string): void => {
  const dialog = document.getElementById(id);
  if (dialog instanceof HTMLDialogElement && !dialog.open) dialog.showModal();
};

const keys: Readonly<Record<string, () => void>> = {
  '/': focusSearch,
  '?': () => openDialog('help'),
  j: () => moveRow(1),
  k: () => moveRow(-1),
  n: () => document.querySelector<HTMLElement>('#new-rows button')?.click(),
};

export function followKeyboard(): void {
  document.addEventListener('keydown', (event) => {
    const { key, ctrlKey, metaKey, altKey } = event;
    if ((ctrlKey || metaKey) && key === 'k') {
      event.preventDefault();
      return focusSearch();
    }
    const { activeElement } = document;
    if (isField(activeElement)) {
      if (key === 'Escape' && activeElement instanceof HTMLElement) activeElement.blur();
      return;
    }
    if (ctrlKey || metaKey || altKey || document.querySelector('dialog[open]')) return;
    const act = keys[key];
    if (!act) return;
    event.preventDefault();
    act();
  });
  document.addEventListener('click', ({ target }) => {
    const opener = target instanceof Element ? target.closest<HTMLElement>('[data-opens]') : null;
    if (opener?.dataset['opens']) openDialog(opener.dataset['opens']);
  });
}
