import { randomBytes } from 'node:crypto'
import { createRequire } from 'node:module'
import t from 'tap'
import { createNkey, decodeSeed, deriveNkey } from '../../../../shared/nats/nkeys.ts'

// the client library's copy of the implementation of NATS
const client = createRequire(import.meta.resolve('@nats-io/transport-node'))
const { fromPublic, fromSeed } = createRequire(client.resolve('@nats-io/nats-core'))('@nats-io/nkeys')

t.test('Keys are parsed and sign like those of NATS', async t => {
  for (const kind of ['operator', 'account', 'user'] as const) {
    for (let i = 0; i < 5; i++) {
      const key = createNkey(kind, randomBytes(32))
      const theirs = fromSeed(Buffer.from(key.seed))
      t.equal(theirs.getPublicKey(), key.publicKey, kind)
      const text = Buffer.from(`text ${i}`)
      t.ok(fromPublic(key.publicKey).verify(text, key.sign(text)))
      t.same(key.sign(text), Buffer.from(theirs.sign(text)))
    }
  }
})

t.test('A mistyped, truncated or foreign seed is refused', async t => {
  const { seed } = createNkey('operator', randomBytes(32))
  const raw = decodeSeed('operator', seed)
  t.equal(raw && createNkey('operator', raw).seed, seed)
  const swapped = `${seed.slice(0, 20)}${seed[20] === 'A' ? 'B' : 'A'}${seed.slice(21)}`
  const wrong = [
    '',
    'SO',
    'secret',
    seed.toLowerCase(),
    seed.slice(0, -1),
    `${seed}A`,
    swapped,
    createNkey('account', randomBytes(32)).seed,
  ]
  for (const text of wrong) t.equal(decodeSeed('operator', text), null, text.slice(0, 6))
})

t.test('The same keys are derived from the operator key, a different one for each purpose', async t => {
  const raw = Buffer.alloc(32, 1)
  t.equal(deriveNkey(raw, 'account', 'main').seed, deriveNkey(raw, 'account', 'main').seed)
  const others = [
    deriveNkey(raw, 'account', 'system'),
    deriveNkey(raw, 'user', 'main'),
    deriveNkey(Buffer.alloc(32, 2), 'account', 'main'),
  ]
  for (const other of others) t.not(other.publicKey, deriveNkey(raw, 'account', 'main').publicKey)
})
