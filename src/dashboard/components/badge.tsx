/** A status, an outcome or a severity: an icon and a word, in the colour of its tone. */
import type { Child } from 'hono/jsx';
import { Icon, type IconName } from './icon.tsx';

/** The tones of words are in `client/styles/parts.css`, by the class `is-<word>`. */
const icons: Readonly<Record<string, IconName>> = {
  succeeded: 'circle-check',
  done: 'circle-check',
  healthy: 'circle-check',
  connected: 'circle-check',
  disconnected: 'circle-x',
  hacked: 'triangle-alert',
  locked: 'ban',
  'sync-failed': 'circle-x',
  'syncs-paused': 'circle-pause',
  active: 'circle-check',
  partial: 'triangle-alert',
  failed: 'circle-x',
  found: 'triangle-alert',
  refused: 'ban',
  error: 'circle-x',
  warning: 'triangle-alert',
  info: 'info',
  new: 'circle-dot',
  acknowledged: 'circle-minus',
  resolved: 'circle-check',
  stopped: 'octagon-x',
  blocked: 'circle-pause',
  paused: 'circle-pause',
  disabled: 'circle-minus',
  missed: 'triangle-alert',
  'caught-up': 'rotate-ccw',
  manual: 'play',
  skipped: 'circle-minus',
  cancelled: 'ban',
  queued: 'clock',
  planned: 'clock',
  'not decided': 'triangle-alert',
  pending: 'clock',
  delivered: 'circle-check',
  rejected: 'ban',
  dead: 'circle-x',
  open: 'clock',
  waiting: 'clock',
  requested: 'clock',
  'awaiting-approval': 'badge-check',
  planning: 'loader',
  running: 'circle-dot',
  acting: 'circle-dot',
  following: 'circle-dot',
  unhealthy: 'triangle-alert',
  unknown: 'circle-question-mark',
};

interface BadgeProps {
  word: string;
  /** It has a background, for where the word stands alone. */
  filled?: boolean;
  /** Where it leads to. */
  to?: string;
  /** What is said in place of the word, whose hyphens are spaces for people. */
  children?: Child;
}

export const Badge = ({ word, filled = false, to, children = word.replaceAll('-', ' ') }: BadgeProps) => {
  const of = `badge is-${word}${filled ? ' filled' : ''}`;
  const content = (
    <>
      <Icon name={icons[word] ?? 'circle-minus'} />
      {children}
    </>
  );
  return to === undefined ? (
    <span class={of}>{content}</span>
  ) : (
    <a class={of} href={to}>
      {content}
    </a>
  );
};
