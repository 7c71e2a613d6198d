import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { openCredential } from '../../../probe-agent/fleet/credential.ts'

let made = 0
const newSecret = () => `${++made}`.padStart(43, 'x')
const fileOf = (dataDir: string) => join(dataDir, 'credential.json')

t.test('a probe makes a secret for its token once, and keeps it without the token', async t => {
  const dataDir = t.testdir({})
  const first = openCredential(dataDir, 'prb_a', newSecret)
  t.match(first, { secret: /^prs_x+1$/, token: 'prb_a' })
  t.equal(statSync(fileOf(dataDir)).mode & 0o777, 0o600)
  t.notMatch(readFileSync(fileOf(dataDir), 'utf8'), 'prb_a')
  t.same(openCredential(dataDir, 'prb_a', newSecret), first)
  t.same(openCredential(dataDir, null, newSecret), { ...first, token: null })
})

t.test('a new token makes a new secret', async t => {
  const dataDir = t.testdir({})
  const { secret } = openCredential(dataDir, 'prb_a', newSecret)
  const next = openCredential(dataDir, 'prb_b', newSecret)
  t.not(next.secret, secret)
  t.equal(openCredential(dataDir, null, newSecret).secret, next.secret)
})

t.test('without a secret and a token, or with a damaged file, the sentence says what to do', async t => {
  const dataDir = t.testdir({})
  t.throws(() => openCredential(dataDir, null, newSecret), { message: /^PROBE_TOKEN is not set, and/ })
  for (const text of ['', '{', '{}', '{"secret":"prs_short"}']) {
    writeFileSync(fileOf(dataDir), text)
    t.throws(
      () => openCredential(dataDir, 'prb_a', newSecret),
      { message: /credential.json" is damaged; remove it/ },
      text,
    )
  }
})

t.test('a file that others could read is closed to them', async t => {
  const dataDir = t.testdir({})
  openCredential(dataDir, 'prb_a', newSecret)
  chmodSync(fileOf(dataDir), 0o644)
  openCredential(dataDir, 'prb_a', newSecret)
  t.equal(statSync(fileOf(dataDir)).mode & 0o777, 0o600)
})
