import type { OAuthCallback } from '../installations/install-actions.ts'

/** Where people end an installation. Beside the API, because nothing below /api/v1 looks at cookies (decisions 1.9). */
export const CONNECT_PATH = '/settings/chat/connect'

/** The address of that page for what the provider sent back with a person. */
export function buildConnectPath({ code, state, error }: OAuthCallback): string {
  const sent = Object.entries({ code, state, error }).filter(([, value]) => value !== undefined)
  return `${CONNECT_PATH}?${new URLSearchParams(sent as [string, string][])}`
}
