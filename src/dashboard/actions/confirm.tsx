/** The page that asks for confirmation before a change: one form. With the script it is a dialog (`client/questions.ts`). */
import type { Child } from 'hono/jsx';
import { pathWith } from '../components/filter-bar.tsx';
import { showPage } from '../components/layout.tsx';
import type { DashboardContext, Exchange } from '../http/context.ts';
import { pageBefore } from '../http/toast.ts';

interface Confirmation {
  title: string;
  /** What will happen: how many, the price, what cannot be undone. */
  text: Child;
  /** The text of the button: the verb, and what it is about. */
  button: string;
  /** Where the link leads that changes nothing, when it is not known on which page the button was pressed. */
  back: string;
  /** More fields of the form. */
  fields?: Child;
}

/** Sends the page. Its form is sent to the address of the page. */
export const showConfirmation = (
  c: Exchange,
  context: DashboardContext,
  { title, text, button, back: otherwise, fields }: Confirmation,
) => {
  const back = pageBefore(c, context, otherwise);
  return showPage(
    c,
    context,
    { title },
    <section class="narrow card" id="question">
      <h1 id="question-title">{title}</h1>
      <p>{text}</p>
      <form method="post" action={pathWith(new URL(c.req.url).pathname, { back })}>
        {fields}
        <p class="actions">
          <button type="submit">{button}</button>
          <a class="action" href={back} data-closes>
            Do nothing
          </a>
        </p>
      </form>
    </section>,
  );
};
