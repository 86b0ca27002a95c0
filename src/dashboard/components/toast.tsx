import type { Toast } from '../http/toast.ts';
import { Icon } from './icon.tsx';

/** What was just done. It leaves by itself (CSS), unless somebody points at it or focuses its link. */
export const ToastLine = ({ toast: { text, link } }: { toast: Toast }) => (
  <p class="toast" role="status">
    <Icon name="circle-check" />
    <span>{text}</span>
    {link && <a href={link.path}>{link.word}</a>}
  </p>
);
