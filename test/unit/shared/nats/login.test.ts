import { randomBytes } from 'node:crypto'
import { createRequire } from 'node:module'
import t from 'tap'
import { createLogin, createLoginOfCredentials } from '../../../../shared/nats/login.ts'
import { createNkey } from '../../../../shared/nats/nkeys.ts'

const client = createRequire(import.meta.resolve('@nats-io/transport-node'))
const { credsAuthenticator, jwtAuthenticator } = client('@nats-io/nats-core')

const user = createNkey('user', randomBytes(32))
const credentials = `-----BEGIN NATS USER JWT-----
header.body.signature
------END NATS USER JWT------

-----BEGIN USER NKEY SEED-----
${user.seed}
------END USER NKEY SEED------
`

t.test('A login equals that of the client library', async t => {
  const theirs = jwtAuthenticator('header.body.signature', Buffer.from(user.seed))
  const login = createLogin('header.body.signature', user)
  for (const nonce of ['a-nonce', undefined]) t.same(login(nonce), theirs(nonce))
})

t.test('A login with a creds file equals that of the client library', async t => {
  const theirs = credsAuthenticator(Buffer.from(credentials))
  t.same(createLoginOfCredentials(credentials)('a-nonce'), theirs('a-nonce'))
})

t.test('A text that is not a creds file of a user is refused', async t => {
  const ofAccount = credentials.replace(user.seed, createNkey('account', randomBytes(32)).seed)
  for (const text of ['', 'secret', credentials.slice(0, 80), ofAccount])
    t.throws(() => createLoginOfCredentials(text), { message: 'the text is not the credentials of a NATS user' })
})
