/** Asks once more before something is changed: a page with one form, which works without any script. */
import type { Child } from 'hono/jsx';
import { showPage } from '../components/layout.tsx';
import type { DashboardContext, Exchange } from '../http/context.ts';

interface Question {
  title: string;
  /** What will happen, in a sentence or two. */
  says: Child;
  /** The words on the button. */
  button: string;
  /** Where a change of mind leads back to. */
  back: string;
  /** Further fields of the form. */
  fields?: Child;
}

/** The page; its form is sent to the address it was asked for at. */
export const ask = (
  c: Exchange,
  context: DashboardContext,
  { title, says, button, back, fields }: Question,
) =>
  showPage(
    c,
    context,
    { title },
    <section class="narrow card">
      <h1>{title}</h1>
      <p>{says}</p>
      <form method="post" action={new URL(c.req.url).pathname}>
        {fields}
        <p class="actions">
          <button type="submit">{button}</button>
          <a href={back}>Do nothing</a>
        </p>
      </form>
    </section>,
  );
