/** Plugin and login-screen branding across the account's sites (spec 4.6). */
import { z } from 'zod';
import { operation } from '../operation.ts';
import { PluginBranding, WpLogin } from '../resources/branding.ts';
import { idOf, part } from '../schema.ts';

const pluginBranding = part({ plugin_branding: PluginBranding }, 'plugin_branding');
const wpLogin = part({ wp_login: WpLogin }, 'wp_login');
const optionalText = z.optional(z.nullable(z.string()));

export const brandingOperations = {
  showPluginBranding: operation({
    section: '4.6',
    summary: 'Shows the branding of the plugin.',
    method: 'GET',
    path: '/whitelabel/plugin-branding',
    success: 200,
    answer: pluginBranding,
    errors: [401, 403, 429],
  }),
  updatePluginBranding: operation({
    section: '4.6',
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
    success: 200,
    answer: pluginBranding,
    errors: [400, 401, 403, 409, 422, 429],
    effect: 'repeatable',
  }),
  resetPluginBranding: operation({
    section: '4.6',
    summary: 'Resets the branding of the plugin.',
    destructive: 'The settings of the branding are lost.',
    method: 'POST',
    path: '/whitelabel/plugin-branding/reset',
    success: 200,
    answer: pluginBranding,
    errors: [401, 403, 409, 422, 429],
    effect: 'repeatable',
    leadsTo: { type: 'default' },
  }),
  showWpLogin: operation({
    section: '4.6',
    summary: 'Shows the branding of the login screen.',
    method: 'GET',
    path: '/whitelabel/wp-login',
    success: 200,
    answer: wpLogin,
    errors: [401, 403, 429],
  }),
  updateWpLogin: operation({
    section: '4.6',
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
    success: 200,
    answer: wpLogin,
    errors: [400, 401, 403, 409, 422, 429],
    effect: 'repeatable',
  }),
  resetWpLogin: operation({
    section: '4.6',
    summary: 'Resets the branding of the login screen.',
    destructive: 'The settings of the login page are lost.',
    method: 'POST',
    path: '/whitelabel/wp-login/reset',
    success: 200,
    answer: wpLogin,
    errors: [401, 403, 409, 422, 429],
    effect: 'repeatable',
    leadsTo: { type: 'default' },
  }),
} as const;
