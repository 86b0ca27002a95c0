/** The look of the service's plugin and of the login screen on the account's sites (spec 2.6, 2.7). */
import { z } from 'zod';
import { idSchema, known, part } from '../schema.ts';

/** Name, description and author are null when the plugin is hidden. */
export const PluginBranding = part({
  type: known('default', 'custom', 'hidden'),
  name: z.nullable(z.string()),
  description: z.nullable(z.string()),
  author: z.nullable(part({ name: z.string(), url: z.string() })),
});
export type PluginBranding = z.output<typeof PluginBranding>;

/** `custom` means that at least one of the settings is set; `logo_file` is an inline image. */
export const WpLogin = part({
  type: known('default', 'custom'),
  logo_file: z.nullable(z.string()),
  label: z.nullable(z.string()),
  error_message: z.nullable(z.string()),
  tooltip: z.nullable(z.string()),
  sender_email: z.nullable(part({ id: idSchema, email: z.string() })),
});
export type WpLogin = z.output<typeof WpLogin>;
