import { createCredentialRules } from '../../../foundation/web/masked-secrets/credentials.ts'
import type { SourceAuthType } from '../types.ts'

/** The credentials of data sources. */
export const { authProblems, maskAuth, unmaskAuth } = createCredentialRules<SourceAuthType>({
  basic: { keys: ['username', 'password'], readable: ['username'] },
  bearer: { keys: ['token'], readable: [], verbatim: ['token'] },
  api_key: { keys: ['header', 'value'], readable: ['header'], header: { name: 'header', value: 'value' } },
})
