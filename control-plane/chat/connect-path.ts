import type { Returned } from './install-actions.ts'

/** Where people end an installation. Beside the API, because nothing below /api/v1 looks at cookies (decisions 1.9). */
export const CONNECT = '/settings/chat/connect'

/** The address of that page for what the provider sent back with a person. */
export function connectPath({ code, state, error }: Returned): string {
  const sent = Object.entries({ code, state, error }).filter(([, value]) => value !== undefined)
  return `${CONNECT}?${new URLSearchParams(sent as [string, string][])}`
}
