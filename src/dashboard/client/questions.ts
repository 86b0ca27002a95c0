/**
 * Asks for confirmation in a dialog: a link or a button with `data-asks` leads to a page with one question, and this
 * shows that question over the page instead. The form is the same, so nothing depends on the script.
 */

async function show(address: string, dialog: HTMLDialogElement): Promise<void> {
  const response = await fetch(address, { headers: { accept: 'text/html' } });
  const page = new DOMParser().parseFromString(await response.text(), 'text/html');
  const question = response.ok && !response.redirected ? page.getElementById('question') : null;
  // A problem, or the sign-in page: the browser shows it as a page.
  if (!question) return location.assign(address);
  dialog.replaceChildren(question);
  if (!dialog.open) dialog.showModal();
}

/** Where a button leads with the fields of its form: the question about what is selected. */
function addressOf(button: HTMLButtonElement, form: HTMLFormElement): string {
  const url = new URL(button.formAction);
  const fields = [...new FormData(form)].map(([name, value]): [string, string] => [name, String(value)]);
  url.search = new URLSearchParams(fields).toString();
  return url.href;
}

/** The place on the page where a question was answered: the answer leads back there. */
const PLACE = 'place';

function goToPlace(): void {
  const [address, y] = (sessionStorage.getItem(PLACE) ?? '').split(' ');
  sessionStorage.removeItem(PLACE);
  if (address === location.href) scrollTo(0, Number(y));
}

export function followQuestions(): void {
  goToPlace();
  const dialog = document.getElementById('ask');
  if (!(dialog instanceof HTMLDialogElement)) return;
  const ask = (address: string) => void show(address, dialog).catch(() => location.assign(address));
  document.addEventListener('submit', (event) => {
    const { submitter, target: form } = event;
    if (form instanceof Element && dialog.contains(form))
      sessionStorage.setItem(PLACE, `${location.href} ${scrollY}`);
    if (!(submitter instanceof HTMLButtonElement) || !(form instanceof HTMLFormElement)) return;
    if (!submitter.matches('[data-asks]')) return;
    event.preventDefault();
    ask(addressOf(submitter, form));
  });
  document.addEventListener('click', (event) => {
    const { target, ctrlKey, metaKey, shiftKey } = event;
    if (ctrlKey || metaKey || shiftKey || !(target instanceof Element)) return;
    const link = target.closest<HTMLAnchorElement>('a[data-asks]');
    if (link) {
      event.preventDefault();
      ask(link.href);
    } else if (dialog.open && target.closest('a[data-closes]')) {
      event.preventDefault();
      dialog.close();
    }
  });
}
