import { randomBytes } from 'node:crypto'
import t from 'tap'
import { createSecrets, rememberOpened } from '../../../control-plane/platform/secrets.ts'

t.test('what was sealed anew is opened anew, and nothing opens under another name', async t => {
  const secrets = createSecrets(randomBytes(32))
  const remembering = rememberOpened(secrets)
  const first = secrets.seal('one', 'channel:a')
  t.equal(remembering.open(first, 'channel:a'), 'one')
  t.equal(remembering.open(Buffer.from(first), 'channel:a'), 'one')
  t.equal(remembering.open(secrets.seal('two', 'channel:a'), 'channel:a'), 'two')
  t.equal(remembering.open(first, 'channel:a'), 'one')
  t.throws(() => remembering.open(first, 'channel:b'))
  const changed = Buffer.from(first)
  changed[changed.length - 1]! ^= 1
  t.throws(() => remembering.open(changed, 'channel:a'))
})

t.test('each text is opened once', async t => {
  const secrets = createSecrets(randomBytes(32))
  const sealed = secrets.seal('one', 'channel:a')
  let opened = 0
  const counting = {
    seal: secrets.seal,
    open(text: Buffer, boundTo: string) {
      opened++
      return secrets.open(text, boundTo)
    },
  }
  const remembering = rememberOpened(counting)
  for (let i = 0; i < 3; i++) remembering.open(sealed, 'channel:a')
  t.equal(opened, 1)
})
