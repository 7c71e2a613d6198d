import type { KeyObject } from 'node:crypto'
import { normalizeHost } from '../../../shared/egress/host.ts'
import { ConfigError, type Env, file, optionalText, text } from '../../../shared/env.ts'
import { privateRsaKey } from '../../platform/rsa.ts'
import type { ConnectTemplate } from './domain-connect.ts'

export type CustomDomainSettings = {
  /** the host that custom domains point to */
  target: string
  /** null: Domain Connect is not offered */
  connect: { template: ConnectTemplate; key: KeyObject; keyHost: string } | null
}

/** CUSTOM_DOMAIN_TARGET and DOMAIN_CONNECT_*. @throws ConfigError */
export function customDomainSettings(env: Env, publicUrl: string): CustomDomainSettings {
  const given = text(env, 'CUSTOM_DOMAIN_TARGET', new URL(publicUrl).hostname)
  const target = normalizeHost(given)
  if (target === null) throw new ConfigError(`CUSTOM_DOMAIN_TARGET is "${given}"; write a hostname`)
  return { target, connect: connectOf(env) }
}

function connectOf(env: Env): CustomDomainSettings['connect'] {
  const providerId = optionalText(env, 'DOMAIN_CONNECT_PROVIDER_ID')
  const pem = file(env, 'DOMAIN_CONNECT_KEY')
  if (providerId === null && pem === null) return null
  if (providerId === null || pem === null) {
    throw new ConfigError('DOMAIN_CONNECT_PROVIDER_ID and DOMAIN_CONNECT_KEY have to be set together')
  }
  const key = privateRsaKey(pem.toString('utf8'))
  if (key === null) throw new ConfigError('DOMAIN_CONNECT_KEY has to be a file with a private RSA key in PEM')
  const serviceId = text(env, 'DOMAIN_CONNECT_SERVICE_ID', 'statuspage')
  return { template: { providerId, serviceId }, key, keyHost: text(env, 'DOMAIN_CONNECT_KEY_HOST', '_dck1') }
}
