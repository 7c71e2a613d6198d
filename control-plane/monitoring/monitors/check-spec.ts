import type { Auth, CheckSpec } from '../../../shared/checks/check.ts'
import type { SecretCipher } from '../../foundation/platform/crypto/encryption.ts'
import { decryptAuth, decryptHeaders, type MonitorAuthConfig } from './settings/encryption.ts'
import { getEffectiveTimeoutMs } from './settings/guarantee.ts'
import type { MonitorAuthType, StoredMonitor } from './types.ts'

/**
 * Builds what a probe needs to run a monitor's check: headers and credentials in plain text, the timeout at most the
 * interval. Only for monitors that are checked (`isCheckedByProbes`).
 */
export function toCheckSpec(monitor: StoredMonitor, secrets: SecretCipher): CheckSpec {
  const auth = decryptAuth(monitor, secrets)
  return {
    type: monitor.type,
    url: monitor.url ?? '',
    method: monitor.method,
    headers: decryptHeaders(monitor, secrets) ?? {},
    body: monitor.body ?? undefined,
    timeoutMs: getEffectiveTimeoutMs(monitor),
    assertions: monitor.assertions ?? [],
    auth: auth === null ? undefined : toAuth(auth.type, auth.config),
    keyword: monitor.keyword ?? undefined,
    keywordType: monitor.keywordType,
    sslCheck: monitor.sslCheck,
    screenshotOnFailure: monitor.screenshotOnFailure,
    screenshotCompare: monitor.screenshotCompare,
    screenshotThreshold: monitor.screenshotThreshold,
  }
}

function toAuth(type: MonitorAuthType, config: MonitorAuthConfig): Auth {
  const text = (key: string) => String(config[key])
  switch (type) {
    case 'basic':
      return { kind: { $case: 'basic', value: { username: text('username'), password: text('password') } } }
    case 'bearer':
      return { kind: { $case: 'bearerToken', value: text('token') } }
    case 'header':
      return { kind: { $case: 'header', value: { name: text('name'), value: text('value') } } }
  }
}
