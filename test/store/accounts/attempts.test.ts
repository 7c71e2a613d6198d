import t from 'tap'
import { buildPersonSubject, buildSignInLimits } from '../../../control-plane/accounts/sign-in/attempt-limits.ts'
import { clearAttempts, countAttempt, refundAttempt } from '../../../control-plane/accounts/sign-in/attempt-store.ts'
import { createPostgres } from '../../../control-plane/foundation/platform/postgres/client.ts'
import { createDatabase } from '../../support/database.ts'

const db = createPostgres((await createDatabase(t)).url, { max: 10, acquireMs: 300_000 })
t.teardown(() => db.destroy())

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
