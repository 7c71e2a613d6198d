import { hostname } from 'node:os'
import t, { type Test } from 'tap'
import { type ApiServer, startApi } from '../support/api-server.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { waitFor } from '../support/wait.ts'

/** No internal address is allowed. */
const strict = await startApi(t, { ROLES: 'api,deliver', EGRESS_ALLOW: '', RATE_LIMIT_PER_MINUTE: '1000000' })
/** Receivers on 127.0.0.1 are allowed. */
const open = await startApi(t, { ROLES: 'api,deliver', RATE_LIMIT_PER_MINUTE: '1000000' })

const createChannel = (api: ApiServer, url: string) =>
  api.call('POST', '/alerts/channels', { body: { name: 'Hook', type: 'webhook', config: { url } } })

/** Sends a test to an address and returns its log entry after it has ended. */
async function deliverTo(api: ApiServer, url: string) {
  const { id } = (await createChannel(api, url)).body.data
  const queued = await api.call('POST', `/alerts/channels/${id}/test`)
  const read = async () => (await api.call('GET', `/alerts/log/${queued.body.data.id}`)).body.data
  const entry = await waitFor(async () => ((await read()).status === 'pending' ? null : await read()), {
    label: `the end of the delivery to ${url}`,
  })
  const channel = (await api.call('GET', `/alerts/channels/${id}`)).body.data
  return { entry, channel }
}

t.test('An internal address is refused when the channel is created, in every spelling', async t => {
  const hosts = [
    [
      '127.0.0.1',
      '127.1',
      '2130706433',
      '0x7f000001',
      '0177.0.0.1',
      '0x7f.1',
      '127。0。0。1',
      '１２７.0.0.1',
      '%31%32%37.0.0.1',
      '127.0.0.1.',
      '0',
      '0.0.0.0',
    ],
    [
      '10.0.0.1',
      '172.16.0.1',
      '192.168.1.1',
      '169.254.169.254',
      '100.64.0.1',
      '100.100.100.200',
      '168.63.129.16',
      '224.0.0.1',
      '255.255.255.255',
      '192.0.2.1',
      '198.18.0.1',
      '192.88.99.1',
    ],
    [
      '[::]',
      '[::1]',
      '[::ffff:127.0.0.1]',
      '[::ffff:7f00:1]',
      '[64:ff9b::7f00:1]',
      '[64:ff9b:1::7f00:1]',
      '[2002:7f00:1::]',
      '[fe80::1]',
      '[fd00:ec2::254]',
      '[ff02::1]',
      '[2001:db8::1]',
      '[2001::1]',
      '[::127.0.0.1]',
    ],
  ].flat()
  for (const host of hosts) {
    const { status, body } = await createChannel(strict, `http://${host}/`)
    t.equal(status, 400, host)
    t.match(
      body.error.details,
      [{ path: 'config.url', message: /^blocked_target: / }],
      `${host}: ${body.error?.message}`,
    )
  }
})

t.test('A value that is not an http(s) URL is refused when the channel is created', async t => {
  const urls = [
    'file:///etc/passwd',
    'gopher://example.com/',
    'ftp://example.com/',
    'javascript:alert(1)',
    'data:text/plain,x',
    'http://',
    'https:///x',
    'https:example.com',
    'https:\\\\example.com',
    '//example.com',
    'http://a b/',
    'http://exa\tmple.com',
    'http://example.com:99999',
    'http://user@example.com',
    'http://:pw@example.com',
    'unix:/var/run/docker.sock',
    'http+unix://x/',
  ]
  for (const url of urls) {
    const { status, body } = await createChannel(strict, url)
    t.match({ status, body }, { status: 400, body: { error: { details: [{ path: 'config.url' }] } } }, url)
  }
})

t.test('A name with an internal address is refused at the connection: one attempt, and nothing arrives', async t => {
  const receiver = await startReceiver(t)
  const { port } = new URL(receiver.url)
  const names = ['localhost', 'LOCALHOST', 'localhost.', 'a.localhost', hostname()]
  await Promise.all(
    names.map(async name => {
      const { entry } = await deliverTo(strict, `http://${name}:${port}/hook`)
      t.match(entry, { status: 'failed', attempts: [{ response_code: null, error: /address/ }] }, name)
      t.equal(entry.attempts.length, 1, name)
    }),
  )
  t.same(receiver.received, [])
})

const withReceiver = async (t: Test, script: (receiver: Receiver) => void) => {
  const receiver = await startReceiver(t)
  script(receiver)
  return { receiver, ...(await deliverTo(open, receiver.url)) }
}
const listCodes = (entry: { attempts: { response_code: number | null }[] }) =>
  entry.attempts.map(one => one.response_code)

t.test('Deliveries to receivers that misbehave follow the retry rules', async t => {
  const inwards = await startReceiver(t)
  const rows: [what: string, script: (receiver: Receiver) => void, status: string, codes: (number | null)[]][] = [
    ['redirects', r => r.always({ status: 301, headers: { location: inwards.url } }), 'failed', [301]],
    [
      'redirects and keeps the method',
      r => r.always({ status: 307, headers: { location: inwards.url } }),
      'failed',
      [307],
    ],
    ['has gone', r => r.always(410), 'failed', [410]],
    ['returns 404', r => r.always(404), 'failed', [404]],
    ['returns 204', r => r.always(204), 'delivered', [204]],
    ['is busy', r => r.always(429), 'failed', [429, 429, 429]],
    ['fails once', r => r.answerWith(500), 'delivered', [500, 200]],
    ['cuts the connection', r => r.always('reset'), 'failed', [null, null, null]],
    ['responds without an end', r => r.always('flood'), 'delivered', [200]],
    ['hangs once', r => r.answerWith('hang'), 'delivered', [null, 200]],
  ]
  await Promise.all(
    rows.map(async ([what, script, status, codes]) => {
      const { entry, receiver, channel } = await withReceiver(t, script)
      t.equal(entry.status, status, `one that ${what}: ${status}`)
      t.same(listCodes(entry), codes, `one that ${what}: ${codes.length} attempts`)
      t.equal(receiver.received.length, codes.length, `one that ${what}: as many requests`)
      t.equal(new Set(receiver.received.map(({ rawBody }) => rawBody)).size, 1, `one that ${what} gets the same body`)
      t.equal(channel.consecutive_failures, status === 'failed' ? 1 : 0, `one that ${what}: deliveries are counted`)
      for (const { response_snippet: snippet } of entry.attempts) {
        t.ok((snippet ?? '').length <= 1_024, `one that ${what}: ${snippet?.length} bytes are stored`)
      }
    }),
  )
  t.same(inwards.received, [], 'no redirect was followed')
})
