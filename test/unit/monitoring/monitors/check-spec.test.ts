import t from 'tap'
import { createSecretCipher } from '../../../../control-plane/foundation/platform/crypto/encryption.ts'
import { toCheckSpec } from '../../../../control-plane/monitoring/monitors/check-spec.ts'
import { encryptFields, toCreatedFields } from '../../../../control-plane/monitoring/monitors/settings/fields.ts'
import type { MonitorCreate } from '../../../../control-plane/monitoring/monitors/settings/schema.ts'
import type { StoredMonitor } from '../../../../control-plane/monitoring/monitors/types.ts'

const secrets = createSecretCipher(Buffer.alloc(32, 7))

function stored(body: Partial<MonitorCreate>, id = 'one'): StoredMonitor {
  const owner = { id, projectId: 'project' }
  const fields = toCreatedFields({ name: 'A', type: 'http', ...body })
  return { ...encryptFields(fields, owner, secrets), ...owner } as StoredMonitor
}

t.test('A probe gets the request in plain text, and nothing that it does not need', async t => {
  const assertions = [{ type: 'status_code', operator: 'equals', value: '200' }]
  const spec = toCheckSpec(
    stored({
      type: 'keyword',
      url: 'https://example.com',
      method: 'PUT',
      headers: { Cookie: 'hush' },
      body: '',
      assertions,
      keyword: 'ok',
      keyword_type: 'regex',
      ssl_check: true,
      tags: ['a'],
    }),
    secrets,
  )
  t.same(spec, {
    type: 'keyword',
    url: 'https://example.com',
    method: 'PUT',
    headers: { Cookie: 'hush' },
    body: '',
    timeoutMs: 30_000,
    assertions,
    auth: undefined,
    keyword: 'ok',
    keywordType: 'regex',
    sslCheck: true,
    screenshotOnFailure: true,
    screenshotCompare: false,
    screenshotThreshold: 0.05,
  })
})

t.test('A timeout above the interval is reduced to the interval', async t => {
  for (const [interval_seconds, timeout_ms, expected] of [
    [30, 60_000, 30_000],
    [30, 30_000, 30_000],
    [60, 60_000, 60_000],
    [3600, 1_000, 1_000],
  ] as const) {
    t.equal(toCheckSpec(stored({ interval_seconds, timeout_ms }), secrets).timeoutMs, expected)
  }
})

t.test('Credentials have the form of their type in the check', async t => {
  const rows = [
    ['basic', { username: 'bob', password: 'hush' }, { $case: 'basic', value: { username: 'bob', password: 'hush' } }],
    ['bearer', { token: 'hush', note: 'more' }, { $case: 'bearerToken', value: 'hush' }],
    ['header', { name: 'X-Key', value: 'hush' }, { $case: 'header', value: { name: 'X-Key', value: 'hush' } }],
  ] as const
  for (const [auth_type, auth_config, kind] of rows) {
    t.same(toCheckSpec(stored({ auth_type, auth_config }), secrets).auth, { kind })
  }
})

t.test('Secrets that were copied to another monitor cannot be decrypted', async t => {
  const [mine, theirs] = [stored({ headers: { a: 'b' } }), stored({ headers: { a: 'b' } }, 'two')]
  t.throws(() => toCheckSpec({ ...mine, headers: theirs.headers }, secrets))
  t.throws(() => toCheckSpec({ ...mine, projectId: 'other' }, secrets))
})
