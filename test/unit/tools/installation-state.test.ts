import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { readInstallationState, writeInstallationState } from '../../../tools/processes/installation-state.ts'
import { ensureDemoAccount, ensureProbeTokens } from '../../../tools/start/accounts.ts'
import { readLocalSettings, StartError } from '../../../tools/start/settings.ts'
import type { Teardown } from '../../support/teardown.ts'

const OTHER_KEY = Buffer.alloc(32, 7).toString('base64')

function createDataDir(t: Teardown) {
  const dataDir = mkdtempSync(join(tmpdir(), 'picket-state-'))
  t.teardown(() => rmSync(dataDir, { recursive: true }))
  const file = join(dataDir, 'keep.json')
  return { dataDir, file, stored: () => JSON.parse(readFileSync(file, 'utf8')) }
}

/** The message of the error that ends the start with one sentence. */
function catchRefusal(attempt: () => unknown): string {
  try {
    attempt()
  } catch (error) {
    if (error instanceof StartError) return error.message
    throw error
  }
  return 'it is accepted'
}

t.test('A SECRET_KEY that is not the stored key is refused, and the stored key stays', t => {
  const { dataDir, file, stored } = createDataDir(t)
  const { secretKey } = readInstallationState(dataDir, {})
  const sentence = new RegExp(`^SECRET_KEY is not the key in ${file}.* Start without SECRET_KEY, or set DATA_DIR`)
  for (const env of [{ SECRET_KEY: OTHER_KEY }, { SECRET_KEY: OTHER_KEY, SECRET_KEY_OLD: OTHER_KEY }]) {
    const message = catchRefusal(() => readInstallationState(dataDir, env))
    t.match(message, sentence)
    for (const key of [secretKey, OTHER_KEY]) t.notOk(message.includes(key), 'it contains neither key')
  }
  t.equal(stored().secretKey, secretKey)
  t.equal(readInstallationState(dataDir, { SECRET_KEY: secretKey }).secretKey, secretKey)
  t.end()
})

t.test('A SECRET_KEY of the first start is stored, a malformed one is not', t => {
  const { dataDir, stored } = createDataDir(t)
  t.equal(
    catchRefusal(() => readInstallationState(dataDir, { SECRET_KEY: 'short' })),
    'SECRET_KEY must be 32 bytes in base64; create one with: openssl rand -base64 32.',
  )
  readInstallationState(dataDir, { SECRET_KEY: OTHER_KEY })
  t.equal(stored().secretKey, OTHER_KEY)
  t.equal(readInstallationState(dataDir, {}).secretKey, OTHER_KEY)
  t.end()
})

t.test('A rotation stores the new key and keeps the replaced one', t => {
  const { dataDir, stored } = createDataDir(t)
  const { secretKey } = readInstallationState(dataDir, {})
  readInstallationState(dataDir, { SECRET_KEY: OTHER_KEY, SECRET_KEY_OLD: secretKey })
  t.match(stored(), { secretKey: OTHER_KEY, earlierSecretKeys: [secretKey] })
  t.equal(readInstallationState(dataDir, {}).secretKey, OTHER_KEY)
  readInstallationState(dataDir, { SECRET_KEY: OTHER_KEY, SECRET_KEY_OLD: secretKey })
  t.match(stored(), { secretKey: OTHER_KEY, earlierSecretKeys: [secretKey] })
  t.end()
})

t.test('A token that is stored later leaves the key as it is', t => {
  const { dataDir, stored } = createDataDir(t)
  const state = readInstallationState(dataDir, {})
  state.databases.embedded = { probeTokens: { 'us-east': 'prb_example' } }
  writeInstallationState(dataDir, state)
  t.equal(stored().secretKey, state.secretKey)
  t.same(readInstallationState(dataDir, {}), state)
  t.end()
})

t.test('The key of the demo stays when only the probes of its database were deleted', async t => {
  const { dataDir, stored } = createDataDir(t)
  const settings = readLocalSettings({ DATA_DIR: dataDir })
  const state = readInstallationState(dataDir, {})
  state.databases.embedded = { hasAccount: true, probeTokens: { 'us-east': 'prb_old' }, demoKey: 'svc_first' }
  let isDatabaseNew = false
  let bootstraps = 0
  const runAdmin = async ([command]: string[]): Promise<string> => {
    if (command === 'probe') return ''
    if (command === 'probe-token') return 'prb_new'
    bootstraps += 1
    if (isDatabaseNew) return JSON.stringify({ api_key: 'svc_second' })
    throw new StartError('picket admin bootstrap --email failed: demo@picket.local is already registered')
  }
  const start = async () => {
    await ensureProbeTokens(settings, state, {}, runAdmin)
    // a stop before the demo is asked for loses nothing
    return ensureDemoAccount(settings, readInstallationState(dataDir, {}), {}, runAdmin)
  }
  t.equal(await start(), 'svc_first')
  t.match(stored().databases.embedded, { demoKey: 'svc_first', probeTokens: { 'us-east': 'prb_new' } })
  t.equal(await ensureDemoAccount(settings, readInstallationState(dataDir, {}), {}, runAdmin), 'svc_first')
  t.equal(bootstraps, 1, 'a key that is known to be right is not doubted again')
  isDatabaseNew = true
  t.equal(await start(), 'svc_second', 'a database that was created again has a new account')
  t.equal(stored().databases.embedded.demoKey, 'svc_second')
})

t.test('A start without a change does not write the file', t => {
  const { dataDir, file } = createDataDir(t)
  readInstallationState(dataDir, {})
  const { ino, mode } = statSync(file)
  readInstallationState(dataDir, {})
  t.equal(statSync(file).ino, ino, 'a written file is a new one')
  t.equal(mode & 0o777, 0o600)
  t.end()
})

t.test('A damaged file is reported by name, and it is not replaced', t => {
  const { dataDir, file } = createDataDir(t)
  for (const text of ['', '{"secretKey":"a', 'null']) {
    writeFileSync(file, text)
    const message = catchRefusal(() => readInstallationState(dataDir, {}))
    t.ok(message.startsWith(`${file} is damaged. It has the keys of this installation`), message)
    t.equal(readFileSync(file, 'utf8'), text)
  }
  t.end()
})
