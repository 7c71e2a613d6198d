import type { MemberRole } from '../../control-plane/accounts/members/role.ts'
import { SESSION_COOKIE } from '../../control-plane/accounts/sessions/cookie.ts'
import type { ApiServer } from './api-server.ts'
import { createVisitor } from './visitor.ts'

export const PERSON_PASSWORD = 'correct horse battery'

type Person = {
  email: string
  /** an admin key of the organization */
  key: string
  /** the session, as a Cookie header */
  cookie: string
  /** the same session, as the value of the cookie */
  token: string
  signOut(): Promise<void>
}

/** A person with a password who is signed in: the founder of a new organization, or a member of another person's. */
export async function createPerson(
  api: Pick<ApiServer, 'call' | 'origin'>,
  email: string,
  { role, invitedBy }: { role?: MemberRole; invitedBy?: Pick<Person, 'key'> } = {},
): Promise<Person> {
  const made = invitedBy
    ? await api.call('POST', '/agent/invite', { key: invitedBy.key, body: { email, role } })
    : await api.call('POST', '/agent/bootstrap', { key: null, body: { email, name: 'Example Ltd' } })
  const { claim_url: claimUrl, api_key: key = invitedBy?.key } = made.body.data
  const visitor = createVisitor(api.origin)
  await visitor.post(new URL(claimUrl).pathname, { password: PERSON_PASSWORD })
  const token = visitor.cookie()
  if (token === null) throw new Error(`${email} is not signed in`)
  return {
    ...{ email, key, token, cookie: `${SESSION_COOKIE}=${token}` },
    signOut: async () => void (await visitor.post('/sign-out', {})),
  }
}
