/** Plugin and login-screen branding across the account's sites (spec 4.6). */
import { z } from 'zod';
import { operationsOf } from '../operation.ts';
import { idOf, idSchema, known, part } from '../schema.ts';

// The look of the service's plugin and of the login screen on the account's sites (spec 2.6, 2.7).

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

const pluginBranding = part({ plugin_branding: PluginBranding }, 'plugin_branding');
const wpLogin = part({ wp_login: WpLogin }, 'wp_login');
const optionalText = z.optional(z.nullable(z.string()));

const operation = operationsOf('4.6');

export const brandingOperations = {
  showPluginBranding: operation({
    summary: 'Shows the branding of the plugin.',
    method: 'GET',
    path: '/whitelabel/plugin-branding',
    answer: pluginBranding,
  }),
  updatePluginBranding: operation({
    summary: 'Changes the branding of the plugin on every site.',
    method: 'POST',
    path: '/whitelabel/plugin-branding/update',
    // Not specified: which fields each type requires.
    body: z.strictObject({
      plugin_branding: z.strictObject({
        type: z.enum(['default', 'custom', 'hidden']),
        name: optionalText,
        description: optionalText,
        author: z.optional(z.nullable(z.strictObject({ name: optionalText, url: optionalText }))),
      }),
    }),
    bodyRequired: true,
    answer: pluginBranding,
    errors: [409, 422],
    effect: 'repeatable',
  }),
  resetPluginBranding: operation({
    summary: 'Resets the branding of the plugin.',
    destructive: 'The settings of the branding are lost.',
    method: 'POST',
    path: '/whitelabel/plugin-branding/reset',
    answer: pluginBranding,
    errors: [409, 422],
    effect: 'repeatable',
    leadsTo: { type: 'default' },
  }),
  showWpLogin: operation({
    summary: 'Shows the branding of the login screen.',
    method: 'GET',
    path: '/whitelabel/wp-login',
    answer: wpLogin,
  }),
  updateWpLogin: operation({
    summary: 'Changes the branding of the login screen of every site.',
    method: 'POST',
    path: '/whitelabel/wp-login/update',
    body: z.strictObject({
      wp_login: z.strictObject({
        logo_file: optionalText,
        label: optionalText,
        error_message: optionalText,
        tooltip: optionalText,
        sender_email: z.optional(z.nullable(z.strictObject({ id: idOf('sender') }))),
      }),
    }),
    bodyRequired: true,
    answer: wpLogin,
    errors: [409, 422],
    effect: 'repeatable',
  }),
  resetWpLogin: operation({
    summary: 'Resets the branding of the login screen.',
    destructive: 'The settings of the login page are lost.',
    method: 'POST',
    path: '/whitelabel/wp-login/reset',
    answer: wpLogin,
    errors: [409, 422],
    effect: 'repeatable',
    leadsTo: { type: 'default' },
  }),
} as const;
