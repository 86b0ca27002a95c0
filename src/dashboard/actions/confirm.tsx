/** The page that asks for confirmation before a change: one form. With the script it is a dialog (`client/questions.ts`). */
import type { Child } from 'hono/jsx';
import { showPage } from '../components/layout.tsx';
import type { DashboardContext, Exchange } from '../http/context.ts';

interface Confirmation {
  title: string;
  /** What will happen: how many, the price, what cannot be undone. */
  text: Child;
  /** The text of the button: the verb, and what it is about. */
  button: string;
  /** The address of the link that changes nothing. */
  back: string;
  /** More fields of the form. */
  fields?: Child;
}

/** Sends the page. Its form is sent to the address of the page. */
export const showConfirmation = (
  c: Exchange,
  context: DashboardContext,
  { title, text, button, back, fields }: Confirmation,
) =>
  showPage(
    c,
    context,
    { title },
    <section class="narrow card" id="question">
      <h1 id="question-title">{title}</h1>
      <p>{text}</p>
      <form method="post" action={new URL(c.req.url).pathname}>
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
