import type { Child } from 'hono/jsx';
import { Icon, type IconName } from './icon.tsx';

interface ActionProps {
  /** The page that asks for confirmation; `client/questions.ts` shows its question in a dialog. */
  to: string;
  children: Child;
  /** Added to its name for screen readers. */
  of?: string;
  icon?: IconName;
  /** The one that most readers want; at most one on a page. */
  main?: boolean;
}

/** A link that looks like a button, and leads to a question. */
export const Action = ({ to, children, of, icon, main = false }: ActionProps) => (
  <a class={main ? 'action main' : 'action'} href={to} data-asks>
    {icon && <Icon name={icon} />}
    {children}
    {of !== undefined && <span class="unseen"> {of}</span>}
  </a>
);
