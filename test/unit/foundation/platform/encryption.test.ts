import { randomBytes } from 'node:crypto'
import t from 'tap'
import { cacheDecrypted, createSecretCipher } from '../../../../control-plane/foundation/platform/crypto/encryption.ts'

t.test('A value that was encrypted again is decrypted again, and no value decrypts under another binding', async t => {
  const secrets = createSecretCipher(randomBytes(32))
  const remembering = cacheDecrypted(secrets)
  const first = secrets.encrypt('one', 'channel:a')
  t.equal(remembering.decrypt(first, 'channel:a'), 'one')
  t.equal(remembering.decrypt(Buffer.from(first), 'channel:a'), 'one')
  t.equal(remembering.decrypt(secrets.encrypt('two', 'channel:a'), 'channel:a'), 'two')
  t.equal(remembering.decrypt(first, 'channel:a'), 'one')
  t.throws(() => remembering.decrypt(first, 'channel:b'))
  const changed = Buffer.from(first)
  changed[changed.length - 1]! ^= 1
  t.throws(() => remembering.decrypt(changed, 'channel:a'))
})

t.test('Each text is decrypted once', async t => {
  const secrets = createSecretCipher(randomBytes(32))
  const encrypted = secrets.encrypt('one', 'channel:a')
  let opened = 0
  const counting = {
    encrypt: secrets.encrypt,
    decrypt(text: Buffer, boundTo: string) {
      opened++
      return secrets.decrypt(text, boundTo)
    },
  }
  const remembering = cacheDecrypted(counting)
  for (let i = 0; i < 3; i++) remembering.decrypt(encrypted, 'channel:a')
  t.equal(opened, 1)
})
