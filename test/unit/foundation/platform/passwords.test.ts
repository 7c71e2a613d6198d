import t from 'tap'
import { createPasswords, TooBusyError } from '../../../../control-plane/foundation/platform/crypto/passwords.ts'

t.test('A password is stored as argon2id and verified, also for an unknown address', async t => {
  const passwords = createPasswords()
  const stored = await passwords.hash('correct horse battery')
  t.match(stored, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
  t.not(await passwords.hash('correct horse battery'), stored, 'salted')
  t.equal(await passwords.verify(stored, 'correct horse battery'), true)
  t.equal(await passwords.verify(stored, 'correct horse battery '), false)
  for (const guess of ['', 'nobody', 'correct horse battery']) t.equal(await passwords.verify(null, guess), false)
})

t.test('Many passwords wait for their turn, and are refused beyond the queue', async t => {
  const passwords = createPasswords()
  const flood = await Promise.allSettled(Array.from({ length: 130 }, () => passwords.verify(null, 'a guess')))
  const refused = flood.filter(one => one.status === 'rejected')
  t.equal(refused.length, 28, 'two are looked at, a hundred wait')
  t.ok(refused.every(({ reason }) => reason instanceof TooBusyError))
  t.equal(await passwords.verify(null, 'afterwards'), false, 'and it goes on')
})
