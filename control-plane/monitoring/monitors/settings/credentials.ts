import { createCredentialRules } from '../../../foundation/web/masked-secrets/credentials.ts'
import type { MonitorAuthType } from '../types.ts'

/** The credentials of monitors (docs/design/monitors.md#credentials). */
export const { authProblems, maskAuth, unmaskAuth } = createCredentialRules<MonitorAuthType>({
  basic: { keys: ['username', 'password'], readable: ['username'] },
  bearer: { keys: ['token'], readable: [], verbatim: ['token'] },
  header: { keys: ['name', 'value'], readable: ['name'], header: { name: 'name', value: 'value' } },
})
