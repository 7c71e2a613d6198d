import { credentialsOf } from '../web/credentials.ts'
import type { AuthType } from './types.ts'

/** The credentials of monitors (decisions 3.2). */
export const { authProblems, maskAuth, unmaskAuth } = credentialsOf<AuthType>({
  basic: { keys: ['username', 'password'], open: ['username'] },
  bearer: { keys: ['token'], open: [], asIs: ['token'] },
  header: { keys: ['name', 'value'], open: ['name'], header: { name: 'name', value: 'value' } },
})
