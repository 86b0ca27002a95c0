import type { Toast } from '../http/toast.ts';
import { Icon } from './icon.tsx';

/** What was just done. It leaves by itself (CSS), unless it failed, or a person points at it or focuses its link. */
export const ToastLine = ({ toast: { text, link, isFailure } }: { toast: Toast }) => (
  <p class={isFailure ? 'toast failure' : 'toast'} role="status">
    <Icon name={isFailure ? 'circle-x' : 'circle-check'} />
    <span>{text}</span>
    {link && <a href={link.path}>{link.word}</a>}
  </p>
);
