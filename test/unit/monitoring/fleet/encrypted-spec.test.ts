import { randomBytes } from 'node:crypto'
import t from 'tap'
import { createSecretCipher } from '../../../../control-plane/foundation/platform/crypto/encryption.ts'
import {
  decryptSpec,
  encryptSpec,
  findSizeProblem,
} from '../../../../control-plane/monitoring/fleet/on-demand/encrypted-spec.ts'
import { CheckSpec } from '../../../../proto/gen/probe/v1/fleet.ts'

const secrets = createSecretCipher(randomBytes(32))
const buildSpec = (body: string): CheckSpec => ({
  ...CheckSpec.decode(new Uint8Array()),
  type: 'http',
  url: 'https://shop.example.com',
  body,
  headers: { 'X-Key': 'of-the-shop' },
  auth: { kind: { $case: 'basic', value: { username: 'shop', password: 'pa55-of-the-shop' } } },
})

t.test('An encrypted check is decrypted unchanged for its run', async t => {
  const spec = buildSpec('é 界')
  const encrypted = encryptSpec(spec, 'run-1', secrets)
  t.same(decryptSpec(encrypted, 'run-1', secrets), spec)
  t.notMatch(Buffer.from(encrypted, 'base64').toString('latin1'), /of-the-shop/)
})

t.test('An encrypted check cannot be decrypted for another run, with another key, or after a change', async t => {
  const encrypted = encryptSpec(buildSpec(''), 'run-1', secrets)
  t.throws(() => decryptSpec(encrypted, 'run-2', secrets))
  t.throws(() => decryptSpec(encrypted, 'run-1', createSecretCipher(randomBytes(32))))
  const bytes = Buffer.from(encrypted, 'base64')
  bytes[40]! ^= 1
  t.throws(() => decryptSpec(bytes.toString('base64'), 'run-1', secrets))
})

t.test('A check that is too large for a NATS message is refused, the largest possible one is accepted', async t => {
  const most = 1_048_576
  const message = 'body and headers are too large for a test; together they must be smaller than about 589 kB'
  t.equal(findSizeProblem(buildSpec('界'.repeat(262_144)), most), message)
  const largest = buildSpec('x'.repeat(589_000))
  t.equal(findSizeProblem(largest, most), null)
  t.ok(encryptSpec(largest, 'run-1', secrets).length + 500 < most)
})
