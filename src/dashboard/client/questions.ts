/**
 * Asks for confirmation in a dialog: a link with `data-asks` leads to a page with one question, and this shows
 * that question over the page instead. The form is the same, so nothing depends on the script.
 */

async function ask(link: HTMLAnchorElement, dialog: HTMLDialogElement): Promise<void> {
  const response = await fetch(link.href, { headers: { accept: 'text/html' } });
  const page = new DOMParser().parseFromString(await response.text(), 'text/html');
  const question = response.ok && !response.redirected ? page.getElementById('question') : null;
  // A problem, or the sign-in page: the browser shows it as a page.
  if (!question) return location.assign(link.href);
  dialog.replaceChildren(question);
  dialog.showModal();
}

export function followQuestions(): void {
  const dialog = document.getElementById('ask');
  if (!(dialog instanceof HTMLDialogElement)) return;
  document.addEventListener('click', (event) => {
    const { target, ctrlKey, metaKey, shiftKey } = event;
    if (ctrlKey || metaKey || shiftKey || !(target instanceof Element)) return;
    const link = target.closest<HTMLAnchorElement>('a[data-asks]');
    if (link) {
      event.preventDefault();
      void ask(link, dialog).catch(() => location.assign(link.href));
    } else if (dialog.open && target.closest('a[data-closes]')) {
      event.preventDefault();
      dialog.close();
    }
  });
}
