/** The page that asks for confirmation before a change: one form. With the script it is a dialog (`client/questions.ts`). */
import { type Child, createContext, type JSX, useContext } from 'hono/jsx';
import { InvalidRequestError } from '../../control/errors.ts';
import { parseDuration } from '../../yaml/duration.ts';
import type { Rule } from '../auth/guard.tsx';
import { typedIn } from '../auth/typed-form.ts';
import { pathWith } from '../components/filter-bar.tsx';
import { showPage } from '../components/layout.tsx';
import type { DashboardContext, Exchange, Handler } from '../http/context.ts';
import { pageBefore } from '../http/toast.ts';

/** A change that people can make: the GET of its address asks for confirmation, the POST makes it. */
export interface Change extends Rule {
  path: string;
  ask: Handler;
  act: Handler;
}

/** The fields of the form that was sent. One without text is missing. */
export async function formOf(c: Exchange) {
  const form = await c.req.parseBody({ all: true });
  const texts = (field: string): string[] =>
    [form[field] ?? []].flat().flatMap((value) => (typeof value === 'string' && value.trim()) || []);
  return { texts, text: (field: string): string | undefined => texts(field)[0] };
}
export type Form = Awaited<ReturnType<typeof formOf>>;

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
  /** Why it was refused, and what was typed. */
  refused?: { why: string; typed: NonNullable<ReturnType<typeof typedIn>> };
}

const TypedContext = createContext<ReturnType<typeof typedIn>>(undefined);

/** A text field of a question. */
export const TextField = ({
  label,
  ...input
}: JSX.IntrinsicElements['input'] & { name: string; label: string }) => (
  <label>
    {label}
    <input autocomplete="off" value={useContext(TypedContext)?.(input.name)[0]} {...input} />
  </label>
);

interface BoxProps {
  name: string;
  value: string;
  /** Whether it is checked when the question is new. */
  otherwise: boolean;
  children: Child;
}

/** A box of a question, with its text. */
export const Box = ({ name, value, otherwise, children }: BoxProps) => {
  const checked = useContext(TypedContext)?.(name).includes(value) ?? otherwise;
  return (
    <label class="inline">
      <input type="checkbox" name={name} value={value} checked={checked} autocomplete="off" /> {children}
    </label>
  );
};

export const ReasonField = (more: { required?: boolean; autofocus?: boolean }) => (
  <TextField name="reason" label="Reason (shown to all users)" maxlength={200} {...more} />
);

/** Why, and for how long: `reasonAndEnd` reads it. */
export const ReasonAndEnd = ({ required = false, example }: { required?: boolean; example: string }) => (
  <>
    <ReasonField required={required} autofocus />
    <TextField name="for" label={`Duration, such as ${example}`} maxlength={20} />
  </>
);

/** @throws {InvalidRequestError} for a text that is no duration. */
export function reasonAndEnd({ text }: Form): { reason: string; until?: string } {
  const [reason = '', until] = [text('reason'), text('for')];
  if (until === undefined) return { reason };
  if (parseDuration(until)) return { reason, until };
  throw new InvalidRequestError(`“${until}” is not a duration: write 3d, 12h or 1h30m. Nothing was changed.`);
}

interface HiddenProps {
  fields: Readonly<Record<string, string | readonly string[] | undefined>>;
}

/** Fields that the form keeps from the address of its question. */
export const Hidden = ({ fields }: HiddenProps) => (
  <>
    {Object.entries(fields).flatMap(([name, values]) =>
      [values ?? []].flat().map((value) => <input type="hidden" name={name} value={value} />),
    )}
  </>
);

/** Sends the page. Its form is sent to the address of the page. */
export const showConfirmation = (
  c: Exchange,
  context: DashboardContext,
  { title, text, button, back: otherwise, fields, refused }: Confirmation,
) => {
  const back = pageBefore(c, context, otherwise);
  const typed = typedIn(c);
  return showPage(
    c,
    context,
    { title, ...(refused && { status: 400 }) },
    <section class="narrow card" id="question">
      <h1 id="question-title">{title}</h1>
      <p>{text}</p>
      {refused && <p class="note is-failed">{refused.why} Nothing was changed.</p>}
      {typed && (
        <p class="note">
          Your session had ended, so nothing was done. Check what you typed, and send it again.
        </p>
      )}
      <form method="post" action={pathWith(new URL(c.req.url).pathname, { back })}>
        <TypedContext.Provider value={refused?.typed ?? typed}>{fields}</TypedContext.Provider>
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
