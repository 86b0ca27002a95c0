/** The selected runs of a list: how many there are, all of them at once, and `x` for the row with the focus. */

/** The box of a row. */
const BOX = '.pick input[type="checkbox"]';

export function followSelection(): void {
  const form = document.getElementById('selection');
  const bulk = document.getElementById('bulk');
  if (!(form instanceof HTMLFormElement) || !bulk) return;
  // What is selected, for one and for several.
  const { one = 'run', many = 'runs' } = bulk.dataset;
  const boxes = () => [...form.querySelectorAll<HTMLInputElement>(BOX)];
  const all = bulk.querySelector<HTMLInputElement>('#select-all');
  const show = () => {
    const every = boxes();
    const count = every.filter(({ checked }) => checked).length;
    for (const button of bulk.querySelectorAll<HTMLButtonElement>('button[data-verb]')) {
      button.disabled = count === 0;
      const { verb = '' } = button.dataset;
      const text = count === 0 ? `${verb} selected` : `${verb} ${count} ${count === 1 ? one : many}`;
      if (button.textContent !== text) button.textContent = text;
    }
    if (all) {
      all.checked = count > 0 && count === every.length;
      all.indeterminate = count > 0 && count < every.length;
    }
  };
  const label = all?.closest('label');
  if (label) label.hidden = false;
  all?.addEventListener('change', () => {
    for (const box of boxes()) box.checked = all.checked;
    show();
  });
  form.addEventListener('change', show);
  // A live update may bring runs and take others away.
  new MutationObserver(show).observe(form, { childList: true, subtree: true });
  document.addEventListener('keydown', ({ key, ctrlKey, metaKey, altKey, target }) => {
    if (key !== 'x' || ctrlKey || metaKey || altKey || !(target instanceof HTMLElement)) return;
    if (target.matches('input:not([type="checkbox"]), select, textarea')) return;
    const box = target.closest('tr')?.querySelector<HTMLInputElement>(BOX);
    if (!box) return;
    box.checked = !box.checked;
    show();
  });
  show();
}
