import { once } from 'node:events'
import { request } from 'node:http'
import t from 'tap'
import { execute } from '../../control-plane/foundation/platform/postgres/client.ts'
import { startApi } from '../support/api-server.ts'
import { CHANNEL } from '../support/bodies.ts'
import { createPerson } from '../support/person.ts'
import { waitFor } from '../support/wait.ts'

// takes about 10 s

// enough members for a person in each case
const api = await startApi(t, { DEFAULT_PLAN: 'business' })
const BODY = Buffer.from(JSON.stringify({ ...CHANNEL, name: 'Sent slowly', is_default: true }))
type Person = Awaited<ReturnType<typeof createPerson>>
const createEmail = () => `${crypto.randomUUID()}@example.com`
/** A caller is checked again when the body came later than this. */
const LATE_MS = 1_000

/** Sends the head and a part of the body. `finish` sends the rest when more than a second has passed. */
async function beginSlowly(path: string, headers: Record<string, string>) {
  const startedMs = performance.now()
  const sent = request(api.origin + path, {
    method: 'POST',
    agent: false,
    headers: { ...headers, 'content-type': 'application/json', 'content-length': BODY.length, expect: '100-continue' },
  })
  t.teardown(() => sent.destroy())
  sent.write(BODY.subarray(0, 10))
  await once(sent, 'continue')
  return async () => {
    await waitFor(() => performance.now() - startedMs > 2 * LATE_MS, { label: 'more than a second' })
    sent.end(BODY.subarray(10))
    const [answer] = await once(sent, 'response')
    let text = ''
    for await (const chunk of answer.setEncoding('utf8')) text += chunk
    return { status: answer.statusCode, body: JSON.parse(text) }
  }
}

const countChannels = async (key: string) =>
  (await api.call('GET', '/alerts/channels', { key })).body.data.filter(
    (one: { name: string }) => one.name === 'Sent slowly',
  ).length

t.test('A key that is deleted or suspended while the body of its request arrives changes nothing', async t => {
  const { key } = await api.tenant()
  const make = async () =>
    (await api.call('POST', '/api-keys', { key, body: { name: 'slow', scope: 'write' } })).body.data
  const isUsed = async (id: string) =>
    (await api.call('GET', '/api-keys?per_page=100', { key })).body.data.find((one: { id: string }) => one.id === id)
      .last_used_at !== null

  const ends = {
    deleted: (id: string) => api.call('DELETE', `/api-keys/${id}`, { key }),
    suspended: (id: string) => execute(api.db, 'UPDATE api_keys SET suspended_at = now() WHERE id = ?', [id]),
  }
  for (const [how, end] of Object.entries(ends)) {
    const made = await make()
    const finish = await beginSlowly('/api/v1/alerts/channels', { authorization: `Bearer ${made.key}` })
    await waitFor(() => isUsed(made.id), { label: 'the key was accepted' })
    await end(made.id)
    t.match(await finish(), { status: 401, body: { error: { message: /stopped working during this request/ } } }, how)
  }
  t.equal(await countChannels(key), 0)

  const kept = await make()
  const finish = await beginSlowly('/api/v1/alerts/channels', { authorization: `Bearer ${kept.key}` })
  t.equal((await finish()).status, 201, 'a key that works is accepted, however slowly its body arrives')
  t.equal(await countChannels(key), 1)
})

t.test('A person who is removed, signs out or becomes a viewer while the body arrives changes nothing', async t => {
  const cases: [string, (member: string, person: Person) => Promise<unknown>, object][] = [
    ['removed', (member, { key }) => api.call('DELETE', member, { key }), { status: 401 }],
    ['signed out', (_member, person) => person.signOut(), { status: 401 }],
    [
      'viewer',
      (member, { key }) => api.call('PUT', member, { key, body: { role: 'viewer' } }),
      { status: 403, body: { error: { message: 'this needs the role editor; your role is viewer' } } },
    ],
    ['still an editor', async () => {}, { status: 201 }],
  ]
  const owner = await createPerson(api, createEmail())
  for (const [what, end, expected] of cases) {
    const email = createEmail()
    const person = await createPerson(api, email, { role: 'editor', invitedBy: owner })
    const members: { email: string; user_id: string }[] = (await api.call('GET', '/members', owner)).body.data
    const headers = { cookie: person.cookie, origin: api.origin }
    const finish = await beginSlowly('/session/api/v1/alerts/channels', headers)
    await end(`/members/${members.find(one => one.email === email)!.user_id}`, person)
    t.match(await finish(), expected, what)
    t.equal(await countChannels(owner.key), what === 'still an editor' ? 1 : 0, what)
  }
})
