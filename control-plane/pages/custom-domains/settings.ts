import type { KeyObject } from 'node:crypto'
import { normalizeHost } from '../../../shared/egress/guard/host.ts'
import { ConfigError, type Env, readFileVariable, readOptionalText, readText } from '../../../shared/process/env.ts'
import { parseRsaPrivateKey } from '../../foundation/platform/crypto/rsa.ts'
import type { ConnectTemplate } from './domain-connect.ts'

export type CustomDomainSettings = {
  /** the host that custom domains point to */
  target: string
  /** null: Domain Connect is not offered */
  connect: { template: ConnectTemplate; key: KeyObject; keyHost: string } | null
}

/** CUSTOM_DOMAIN_TARGET and DOMAIN_CONNECT_*. @throws ConfigError */
export function parseCustomDomainSettings(env: Env, publicUrl: string): CustomDomainSettings {
  const given = readText(env, 'CUSTOM_DOMAIN_TARGET', new URL(publicUrl).hostname)
  const target = normalizeHost(given)
  if (target === null) throw new ConfigError(`CUSTOM_DOMAIN_TARGET must be a hostname, not "${given}"`)
  return { target, connect: parseConnectOptions(env) }
}

function parseConnectOptions(env: Env): CustomDomainSettings['connect'] {
  const providerId = readOptionalText(env, 'DOMAIN_CONNECT_PROVIDER_ID')
  const pem = readFileVariable(env, 'DOMAIN_CONNECT_KEY')
  if (providerId === null && pem === null) return null
  if (providerId === null || pem === null) {
    throw new ConfigError('DOMAIN_CONNECT_PROVIDER_ID and DOMAIN_CONNECT_KEY must be set together')
  }
  const key = parseRsaPrivateKey(pem.toString('utf8'))
  if (key === null) throw new ConfigError('DOMAIN_CONNECT_KEY must be the path of a file with a private RSA key in PEM')
  const serviceId = readText(env, 'DOMAIN_CONNECT_SERVICE_ID', 'statuspage')
  return { template: { providerId, serviceId }, key, keyHost: readText(env, 'DOMAIN_CONNECT_KEY_HOST', '_dck1') }
}
