import type { SealedColumn } from '../platform/reseal.ts'
import type { Secrets } from '../platform/secrets.ts'

type Owner = { id: string; projectId: string }

const bindingOf = (owner: Owner, column: 'config' | 'secret') => `${owner.projectId}:channel:${owner.id}:${column}`

/** The sealed columns of a table that holds channels, for a new key. */
export const sealedIn = (table: 'alert_channels' | 'page_subscribers'): SealedColumn[] =>
  (
    [
      ['config', 'config'],
      ['signing_secret', 'secret'],
    ] as const
  ).map(([column, name]) => ({
    table,
    column,
    key: ['id'],
    needs: ['project_id'],
    bindingOf: row => bindingOf({ id: row.id!, projectId: row.project_id! }, name),
  }))
export const SEALED_IN_CHANNELS = sealedIn('alert_channels')

export function sealConfig(config: object, owner: Owner, secrets: Secrets): Buffer {
  return secrets.seal(JSON.stringify(config), bindingOf(owner, 'config'))
}

export function openConfig(channel: Owner & { config: Buffer }, secrets: Secrets): Record<string, unknown> {
  return JSON.parse(secrets.open(channel.config, bindingOf(channel, 'config'))) as Record<string, unknown>
}

export function sealSigningSecret(signingSecret: string, owner: Owner, secrets: Secrets): Buffer {
  return secrets.seal(signingSecret, bindingOf(owner, 'secret'))
}

/** `whsec_…`, null for a channel that does not sign. */
export function openSigningSecret(channel: Owner & { signingSecret: Buffer | null }, secrets: Secrets): string | null {
  return channel.signingSecret === null ? null : secrets.open(channel.signingSecret, bindingOf(channel, 'secret'))
}
