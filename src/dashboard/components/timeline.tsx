/** What happened, newest first, one entry a time. The first one is open. */
import type { Child } from 'hono/jsx';
import { Icon, type IconName } from './icon.tsx';
import { Time } from './time.tsx';

export interface Entry {
  key: string;
  at: number;
  icon: IconName;
  /** The class without `is-` that gives the colour. */
  tone?: string;
  title: Child;
  /** What is shown when the entry is opened. */
  details?: Child;
}

export const Timeline = ({ entries }: { entries: readonly Entry[] }) => (
  <ol class="timeline">
    {entries.map(({ key, at, icon, tone, title, details }, index) => (
      <li data-key={key} data-row class={tone ? `is-${tone}` : ''}>
        <Icon name={icon} />
        <p>
          {title} <span class="dim">·</span> <Time at={at} show="relative" />
        </p>
        {details && (
          <details open={index === 0}>
            <summary>Details</summary>
            {details}
          </details>
        )}
      </li>
    ))}
  </ol>
);
