import { randomBytes } from 'node:crypto'
import t from 'tap'
import { changePassword, signIn } from '../../../control-plane/accounts/sign-in/actions.ts'
import { buildPersonSubject, buildSignInLimits } from '../../../control-plane/accounts/sign-in/attempt-limits.ts'
import { clearAttempts, countAttempt, refundAttempt } from '../../../control-plane/accounts/sign-in/attempt-store.ts'
import { createSecretCipher } from '../../../control-plane/foundation/platform/crypto/encryption.ts'
import { type Passwords, TooBusyError } from '../../../control-plane/foundation/platform/crypto/passwords.ts'
import { createPostgres, execute, query } from '../../../control-plane/foundation/platform/postgres/client.ts'
import { createDatabase } from '../../support/database.ts'

const db = createPostgres((await createDatabase(t)).url, { max: 10, acquireMs: 300_000 })
t.teardown(() => db.destroy())

const SECRETS = createSecretCipher(randomBytes(32))
const TOOLS = { db, secrets: SECRETS, publicUrl: 'http://localhost:8080', sendsMail: false }
const START = Date.parse('2026-08-01T12:00:00Z')
const at = (seconds: number) => new Date(START + seconds * 1_000)

t.test('Many users sign in from one network, and guesses from it are stopped', async t => {
  for (let n = 0; n < 60; n++) {
    const limits = buildSignInLimits(`person${n}@example.com`, '192.0.2.1')
    t.equal(await countAttempt(db, limits, at(n)), null)
    await refundAttempt(db, limits, at(n))
  }
  const guesses: (number | null)[] = []
  for (let n = 0; n < 51; n++) {
    guesses.push(await countAttempt(db, buildSignInLimits(`other${n}@example.com`, '192.0.2.1'), at(100)))
  }
  t.same(guesses, [...Array(50).fill(null), 900])
})

t.test('The password of one user can be guessed at most a hundred times in 15 minutes from all networks', async t => {
  const email = 'ann@example.com'
  const answers = await Promise.all(
    Array.from({ length: 110 }, (_, n) => countAttempt(db, buildSignInLimits(email, `198.51.100.${n}`), at(n))),
  )
  t.equal(answers.filter(answer => answer === null).length, 100)
  t.equal(
    await countAttempt(db, buildSignInLimits(email, '203.0.113.9'), at(1_200)),
    null,
    'later attempts are allowed again',
  )
})

t.test('Failed attempts no longer count after the right password', async t => {
  const [email, network] = ['bob@example.com', '203.0.113.7']
  for (let n = 0; n < 9; n++) await countAttempt(db, buildSignInLimits(email, network), at(n))
  await clearAttempts(db, buildPersonSubject(email, network))
  for (let n = 0; n < 10; n++) t.equal(await countAttempt(db, buildSignInLimits(email, network), at(20 + n)), null)
  t.equal(await countAttempt(db, buildSignInLimits(email, network), at(40)), 880)
})

t.test(
  'Texts that a stranger writes into the form count neither for another address nor for another network',
  async t => {
    const [email, network] = ['carl@example.com', '203.0.113.77']
    const texts = [
      `${email}:${network}`,
      `${email}","${network}`,
      `${email}"`,
      `person:${email}`,
      `${email} `,
      `a@${email}`,
    ]
    for (const [i, text] of texts.entries()) {
      for (let n = 0; n < 12; n++) await countAttempt(db, buildSignInLimits(text, `198.51.100.${100 + i}`), at(n))
    }
    for (let n = 0; n < 10; n++) t.equal(await countAttempt(db, buildSignInLimits(email, network), at(20 + n)), null)
  },
)

t.test('A text that is not an email address counts for the network only', async t => {
  for (const text of ['', 'dora', 'dora@', 'a b@example.com', 'a@b@example.com']) {
    t.equal(buildSignInLimits(text, '192.0.2.9').length, 1, text)
  }
  for (const text of ['dora@localhost', "o'neil+x@example.com"]) t.equal(buildSignInLimits(text, '192.0.2.9').length, 3)
})

t.test('Of attempts of the same millisecond one is refunded', async t => {
  const limits = buildSignInLimits('eva@example.com', '203.0.113.10')
  const moment = at(3_000)
  for (let n = 0; n < 3; n++) await countAttempt(db, limits, moment)
  await Promise.all([refundAttempt(db, limits, moment), refundAttempt(db, limits, moment)])
  t.equal((await query(db, 'SELECT FROM password_attempts WHERE at = ?', [moment])).length, limits.length)
})

t.test('An attempt that the server cannot check does not count', async t => {
  const visitor = { network: '203.0.113.20', ip: '203.0.113.20', userAgent: undefined }
  const [email, password] = ['busy@example.com', 'correct horse battery']
  const busy = () => Promise.reject(new TooBusyError('too many passwords are being verified'))
  const toolsWith = (passwords: Passwords) => ({ ...TOOLS, passwords })
  const allBusy = toolsWith({ hash: busy, verify: busy })
  await execute(db, 'DELETE FROM password_attempts')
  const counted = () => query(db, 'SELECT FROM password_attempts')

  await t.rejects(signIn(allBusy, visitor, { email, password }), { message: 'too many passwords are being verified' })
  const change = { email, old: password, password: 'another horse battery' }
  await t.rejects(changePassword(allBusy, visitor, change), { message: 'too many passwords are being verified' })
  t.same(await counted(), [], 'the password was not verified')

  await execute(
    db,
    `INSERT INTO users (id, email, password_hash, created_at, updated_at) VALUES (uuidv7(), ?, 'hash', now(), now())`,
    [email],
  )
  const busyLater = toolsWith({ hash: busy, verify: async () => true })
  await t.rejects(changePassword(busyLater, visitor, change), { message: 'too many passwords are being verified' })
  t.same(await counted(), [], 'the password was not changed')

  const idle = toolsWith({ hash: async () => 'hash', verify: async () => false })
  await execute(db, 'ALTER TABLE users RENAME TO users_away')
  await t.rejects(signIn(idle, visitor, { email, password }), /users/)
  await execute(db, 'ALTER TABLE users_away RENAME TO users')
  t.same(await counted(), [], 'the database failed')

  t.same(await signIn(idle, visitor, { email, password }), { refused: 'wrong' })
  t.equal((await counted()).length, 3, 'a wrong password counts')
})
