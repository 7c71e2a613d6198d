import { createRequire } from 'node:module'
import t from 'tap'
import { derivedNkey, newNkey, nkeyOf, rawSeedOf } from '../../../control-plane/platform/nkeys.ts'

// the client library's own copy of what NATS itself uses
const client = createRequire(import.meta.resolve('@nats-io/transport-node'))
const { fromPublic, fromSeed } = createRequire(client.resolve('@nats-io/nats-core'))('@nats-io/nkeys')

t.test('keys read and sign as those of NATS do', async t => {
  for (const kind of ['operator', 'account', 'user'] as const) {
    for (let i = 0; i < 5; i++) {
      const key = newNkey(kind)
      const theirs = fromSeed(Buffer.from(key.seed))
      t.equal(theirs.getPublicKey(), key.publicKey, kind)
      const text = Buffer.from(`text ${i}`)
      t.ok(fromPublic(key.publicKey).verify(text, key.sign(text)))
      t.same(key.sign(text), Buffer.from(theirs.sign(text)))
    }
  }
})

t.test('a seed that is mistyped, cut off or of another kind is none', async t => {
  const { seed } = newNkey('operator')
  const raw = rawSeedOf('operator', seed)
  t.equal(raw && nkeyOf('operator', raw).seed, seed)
  const swapped = `${seed.slice(0, 20)}${seed[20] === 'A' ? 'B' : 'A'}${seed.slice(21)}`
  const wrong = [
    '',
    'SO',
    'secret',
    seed.toLowerCase(),
    seed.slice(0, -1),
    `${seed}A`,
    swapped,
    newNkey('account').seed,
  ]
  for (const text of wrong) t.equal(rawSeedOf('operator', text), null, text.slice(0, 6))
})

t.test('who has the operator’s key finds the same keys again, each purpose its own', async t => {
  const raw = Buffer.alloc(32, 1)
  t.equal(derivedNkey(raw, 'account', 'main').seed, derivedNkey(raw, 'account', 'main').seed)
  const others = [
    derivedNkey(raw, 'account', 'system'),
    derivedNkey(raw, 'user', 'main'),
    derivedNkey(Buffer.alloc(32, 2), 'account', 'main'),
  ]
  for (const other of others) t.not(other.publicKey, derivedNkey(raw, 'account', 'main').publicKey)
})
