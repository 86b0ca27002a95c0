/** The views of branding (spec 2.6, 2.7). */
import type {
  PluginBranding as ShownPluginBranding,
  WpLogin as ShownWpLogin,
} from '../../contract/resources/branding.ts';
import type { PluginBranding, WpLogin } from '../model/account.ts';
import type { World } from '../model/world.ts';
import { defaultPlugin } from '../world/branding.ts';
import { senderReference } from './sender-email.ts';

/** By default the service's own details, otherwise the saved ones, which are empty when it is hidden. */
export const pluginBrandingView = ({ type, ...saved }: PluginBranding): ShownPluginBranding => ({
  type,
  ...(type === 'default' ? defaultPlugin : saved),
});

export function wpLoginView(world: World, login: WpLogin): ShownWpLogin {
  const isSet = Object.values(login).some((value) => value !== null);
  return {
    type: isSet ? 'custom' : 'default',
    logo_file: login.logoFile,
    label: login.label,
    error_message: login.errorMessage,
    tooltip: login.tooltip,
    sender_email: senderReference(world, login.senderId),
  };
}
