import type { Child } from 'hono/jsx';

/** Numbers with their names, side by side. */
export const Stats = ({ children }: { children: Child }) => <dl class="stats">{children}</dl>;

interface StatProps {
  name: string;
  children: Child;
  /** What explains it: what it is compared with, since when. */
  hint?: Child;
  tone?: 'good' | 'warn' | 'bad' | 'busy';
}

export const Stat = ({ name, children, hint, tone }: StatProps) => (
  <div class={`stat card${tone ? ` is-${tone}` : ''}`}>
    <dt>{name}</dt>
    <dd>
      {children}
      {hint && <div class="hint">{hint}</div>}
    </dd>
  </div>
);
