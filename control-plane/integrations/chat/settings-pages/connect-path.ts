import type { OAuthCallback } from '../installations/install-actions.ts'

/** The page that finishes an installation. It is outside /api/v1, where cookies are ignored. */
export const CONNECT_PATH = '/settings/chat/connect'

/** Builds the address of that page with the parameters of the provider. */
export function buildConnectPath({ code, state, error }: OAuthCallback): string {
  const sent = Object.entries({ code, state, error }).filter(([, value]) => value !== undefined)
  return `${CONNECT_PATH}?${new URLSearchParams(sent as [string, string][])}`
}
