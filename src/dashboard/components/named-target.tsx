/** A target in a list: its address, and beside it the title of its site; or its id, if the site has no other name. */
import { siteName } from './paths.ts';
import { Cut } from './table.tsx';

export const NamedTarget = (one: { label: string; id: string; title: string | undefined; to: string }) => {
  const { label, id, title, to } = one;
  const name = siteName(label, id);
  const beside = title && title !== name ? title : name === id ? '' : id;
  return (
    <Cut whole={[...new Set([label, title, id])].filter(Boolean).join(', ')}>
      <a href={to}>{name}</a> {beside && <span class="dim">{beside}</span>}
    </Cut>
  );
};
