import type { Secrets } from '../platform/secrets.ts'

type Owner = { id: string; projectId: string }

const bindingOf = (owner: Owner, column: 'config' | 'secret') => `${owner.projectId}:channel:${owner.id}:${column}`

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
