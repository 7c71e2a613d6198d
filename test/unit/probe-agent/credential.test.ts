import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { openCredential } from '../../../probe-agent/fleet/credential.ts'

let made = 0
const newSecret = () => `${++made}`.padStart(43, 'x')
const toFilePath = (dataDir: string) => join(dataDir, 'credential.json')

t.test('A probe creates one secret for a token and keeps it without the token', async t => {
  const dataDir = t.testdir({})
  const first = openCredential(dataDir, 'prb_a', newSecret)
  t.match(first, { secret: /^prs_x+1$/, token: 'prb_a' })
  t.equal(statSync(toFilePath(dataDir)).mode & 0o777, 0o600)
  t.notMatch(readFileSync(toFilePath(dataDir), 'utf8'), 'prb_a')
  t.same(openCredential(dataDir, 'prb_a', newSecret), first)
  t.same(openCredential(dataDir, null, newSecret), { ...first, token: null })
})

t.test('A new token creates a new secret', async t => {
  const dataDir = t.testdir({})
  const { secret } = openCredential(dataDir, 'prb_a', newSecret)
  const next = openCredential(dataDir, 'prb_b', newSecret)
  t.not(next.secret, secret)
  t.equal(openCredential(dataDir, null, newSecret).secret, next.secret)
})

t.test('A token that is set again gets its secret back, because the other one may have been a mistake', async t => {
  const dataDir = t.testdir({})
  const secrets = ['prb_a', 'prb_b', 'prb_c', 'prb_d'].map(token => openCredential(dataDir, token, newSecret).secret)
  t.equal(openCredential(dataDir, 'prb_a', newSecret).secret, secrets[0])
  t.equal(openCredential(dataDir, null, newSecret).secret, secrets[0])
  t.equal(openCredential(dataDir, 'prb_d', newSecret).secret, secrets[3])
  openCredential(dataDir, 'prb_e', newSecret)
  t.not(openCredential(dataDir, 'prb_b', newSecret).secret, secrets[1], 'the last three are kept')
  t.notMatch(readFileSync(toFilePath(dataDir), 'utf8'), 'prb_')
})

t.test('A missing secret and token, or a damaged file, is an error with the remedy', async t => {
  const dataDir = t.testdir({})
  t.throws(() => openCredential(dataDir, null, newSecret), { message: /^PROBE_TOKEN is not set, and/ })
  for (const text of ['', '{', '{}', '{"secret":"prs_short"}', `{"secret":"prs_${newSecret()}","earlier":[{},null]}`]) {
    writeFileSync(toFilePath(dataDir), text)
    t.throws(
      () => openCredential(dataDir, 'prb_a', newSecret),
      { message: /credential.json" is damaged; remove it/ },
      text,
    )
  }
})

t.test('A credential file that others could read is restricted to its owner', async t => {
  const dataDir = t.testdir({})
  openCredential(dataDir, 'prb_a', newSecret)
  chmodSync(toFilePath(dataDir), 0o644)
  openCredential(dataDir, 'prb_a', newSecret)
  t.equal(statSync(toFilePath(dataDir)).mode & 0o777, 0o600)
})
