import { randomBytes } from 'node:crypto'
import t from 'tap'
import { generateApiKey } from '../../control-plane/foundation/web/auth/api-key.ts'
import { startApi } from '../support/api-server.ts'
import { openEvents } from '../support/event-stream.ts'
import { createPerson } from '../support/person.ts'
import { waitFor } from '../support/wait.ts'

// takes about 30 s

const api = await startApi(t, { RATE_LIMIT_PER_MINUTE: '1000000', RATE_LIMIT_PER_PROJECT: '1000000' })

t.test('Streams of a deleted key end although its network has sent too many unknown keys', async t => {
  const { key } = await api.tenant()
  const made = (await api.call('POST', '/api-keys', { key, body: { name: 'deleted', scope: 'read' } })).body.data
  const streams = await Promise.all(Array.from({ length: 4 }, () => openEvents(t, api.origin, { key: made.key })))
  const kept = await openEvents(t, api.origin, { key })
  await Promise.all([...streams, kept].map(stream => stream.until('ready')))

  await api.call('DELETE', `/api-keys/${made.id}`, { key })
  const status = async (tried: string) => (await api.call('GET', '/me', { key: tried })).status
  await waitFor(async () => (await status(made.key)) === 401, { label: 'the key is not accepted', everyMs: 250 })
  await waitFor(async () => (await status(generateApiKey())) === 429, { label: 'too many unknown keys', everyMs: 1 })
  await waitFor(async () => (await status(made.key)) === 429, { label: 'the deleted key is limited', everyMs: 250 })
  t.same(
    streams.map(({ ended }) => ended),
    streams.map(() => null),
    'no stream has been checked yet',
  )

  const areEnded = async () => {
    // also in the next minute the network is over its limit
    await status(generateApiKey())
    return streams.every(({ ended }) => ended !== null)
  }
  await waitFor(areEnded, { label: 'the end of its streams', everyMs: 1 })
  await waitFor(() => kept.heartbeats > 1, { label: 'a stream of another key goes on' })
  t.equal(kept.ended, null)
})

t.test('A stream of a person ends when the person signs out', async t => {
  const person = await createPerson(api, `${randomBytes(8).toString('hex')}@example.com`)
  const open = () =>
    openEvents(t, `${api.origin}/session`, { key: null, headers: { cookie: person.cookie, origin: api.origin } })
  const stream = await open()
  await stream.until('ready')
  await person.signOut()
  await stream.untilEnd()
})
