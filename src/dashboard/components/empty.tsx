import type { Child } from 'hono/jsx';
import { Icon, type IconName } from './icon.tsx';

/** In place of a value. */
export const NotKnown = () => <span class="dim">not known</span>;
export const Dash = () => <span class="dim">–</span>;

/** In place of a list: what would be here, and how to get it. */
export const Empty = ({
  icon = 'inbox',
  title,
  children,
}: {
  icon?: IconName;
  title: string;
  children?: Child;
}) => (
  <div class="empty">
    <Icon name={icon} />
    <div>
      <p>{title}</p>
      {children && <p>{children}</p>}
    </div>
  </div>
);
