import type { Auth } from '../../shared/checks/check.ts'

/** The header that a monitor's `auth_type` and `auth_config` define, or null. */
export function buildAuthHeader(auth: Auth | undefined): [name: string, value: string] | null {
  const kind = auth?.kind
  switch (kind?.$case) {
    case 'basic': {
      const { username, password } = kind.value
      return ['Authorization', `Basic ${Buffer.from(`${username}:${password}`, 'utf8').toString('base64')}`]
    }
    case 'bearerToken':
      return ['Authorization', `Bearer ${kind.value}`]
    case 'header':
      return [kind.value.name, kind.value.value]
    default:
      return null
  }
}
