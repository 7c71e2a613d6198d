import { credentialsOf } from '../web/credentials.ts'
import type { AuthType } from './types.ts'

/** The credentials of data sources (specification, "Data source"; decisions 9.1). */
export const { authProblems, maskAuth, unmaskAuth } = credentialsOf<AuthType>({
  basic: { keys: ['username', 'password'], open: ['username'] },
  bearer: { keys: ['token'], open: [], asIs: ['token'] },
  api_key: { keys: ['header', 'value'], open: ['header'], header: { name: 'header', value: 'value' } },
})
