import { createElement } from 'hono/jsx';
import { type IconName, shapes } from './icon-shapes.ts';

/** An icon beside a word that says the same: screen readers skip it. */
export const Icon = ({ name }: { name: IconName }) => (
  <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
    {shapes[name].map(([tag, attributes]) => createElement(tag, attributes))}
  </svg>
);
