import t from 'tap'
import { parseBootstrap } from '../../../../control-plane/verdict/expiry/domains/rdap.ts'
import { lookUpDomain, type Registries } from '../../../../control-plane/verdict/expiry/domains/registry-reader.ts'
import { createEgress } from '../../../../shared/egress/index.ts'
import { startRawServer } from '../../../support/raw-server.ts'
import { type Behaviour, startTarget } from '../../../support/target.ts'

const rdap = await startTarget(t)
const END = new Date('2027-08-13T04:00:00Z')
const GOOD = JSON.stringify({ objectClassName: 'domain', events: [{ eventAction: 'expiration', eventDate: END }] })

/** A WHOIS server that answers each query with the given text; null: it never answers. */
const startWhois = (answer: (question: string) => string | null) =>
  startRawServer(t, socket =>
    socket.once('data', question => {
      const text = answer(String(question))
      if (text !== null) socket.end(text)
    }),
  )
const whois = await startWhois(question => `Domain: ${question}Expiry Date: 2027-03-09\r\n`)
const nowhere = await startWhois(() => 'No match\r\n')

const egress = createEgress({ allow: ['127.0.0.0/8'] })
const ask = (domain: string, given: Partial<Registries> & { whoisPort?: number } = {}) => {
  const { whoisPort = nowhere, ...rest } = given
  const whoisServer = { host: '127.0.0.1', port: whoisPort }
  return lookUpDomain(domain, {
    egress,
    rdapBaseUrl: rdap.url,
    bootstrap: null,
    whoisServer,
    timeoutMs: 60_000,
    ...rest,
  })
}

t.test('RDAP is queried first, and a redirect is followed', async t => {
  rdap.behave({ kind: 'answer', body: GOOD })
  t.same(await ask('example.com', { whoisPort: whois }), { expiresAt: END, source: 'rdap' })
  t.equal(rdap.requests.at(-1)?.path, '/domain/example.com')
  rdap.behaveAt('/domain/moved.com', { kind: 'redirect', to: `${rdap.url}elsewhere` })
  t.same(await ask('moved.com'), { expiresAt: END, source: 'rdap' })
})

t.test('The bootstrap list selects the RDAP server', async t => {
  const bootstrap = parseBootstrap({ services: [[['test'], [`${rdap.url}base/`]]] })
  t.same(await ask('example.test', { rdapBaseUrl: null, bootstrap }), { expiresAt: END, source: 'rdap' })
  t.equal(rdap.requests.at(-1)?.path, '/base/domain/example.test')
  const before = rdap.requests.length
  t.match(await ask('example.nowhere', { rdapBaseUrl: null, bootstrap, whoisPort: whois }), { source: 'whois' })
  t.equal(rdap.requests.length, before)
})

t.test('WHOIS is queried after any RDAP error, in bounded time and memory', async t => {
  rdap.behaveAt('/domain/round.com', { kind: 'redirect', to: `${rdap.url}domain/round.com` })
  const rows: [what: string, behaviour: Behaviour][] = [
    ['garbage', { kind: 'answer', body: '<html>' }],
    ['nothing', { kind: 'answer', body: '' }],
    ['bytes', { kind: 'answer', body: Buffer.from([0xff, 0, 0xfe]) }],
    ['no date', { kind: 'answer', body: '{"objectClassName":"domain","events":[]}' }],
    ['another year', { kind: 'answer', body: GOOD.replace('2027', '9999') }],
    ['an error', { kind: 'answer', status: 503 }],
    ['not found', { kind: 'answer', status: 404, body: GOOD }],
    ['1 MB', { kind: 'answer', body: GOOD + ' '.repeat(1024 * 1024) }],
    ['an endless body', { kind: 'drip', everyMs: 5, endless: true, body: GOOD }],
    ['silence', { kind: 'hang', after: 'connect' }],
    ['half an answer', { kind: 'hang', after: 'headers' }],
    ['a reset', { kind: 'reset', after: 'headers' }],
    ['a circle', { kind: 'redirect', to: `${rdap.url}domain/round.com` }],
    ['a way inside', { kind: 'redirect', to: 'http://10.0.0.1/' }],
    ['another protocol', { kind: 'redirect', to: 'file:///etc/passwd' }],
  ]
  await Promise.all(
    rows.map(async ([what, behaviour], i) => {
      rdap.behaveAt(`/domain/odd-${i}.com`, behaviour)
      // some of them never end by themselves; the WHOIS response has to arrive within the same time
      t.match(await ask(`odd-${i}.com`, { whoisPort: whois, timeoutMs: 10_000 }), { source: 'whois' }, what)
    }),
  )
})

t.test('Each WHOIS error is reported as a sentence', async t => {
  rdap.behave({ kind: 'answer', status: 404 })
  const rows: [what: string, port: number, error: RegExp, isSilent: boolean][] = [
    ['no match', nowhere, /status 404/, false],
    ['silence', await startWhois(() => null), /WHOIS at 127\.0\.0\.1:\d+: timed out/, false],
    ['a referral to itself', await startWhois(() => 'refer: 127.0.0.1:1\r\n'), /connection/, false],
    ['a referral inside', await startWhois(() => 'refer: 10.0.0.1\r\n'), /cannot be a target/, false],
    ['1 MB of dates that are none', await startWhois(() => 'expires: never\r\n'.repeat(70_000)), /status 404/, false],
    ['bytes', await startWhois(() => '\0\u0001'.repeat(1_000)), /status 404/, false],
  ]
  for (const [what, whoisPort, error, isSilent] of rows) {
    const timeoutMs = what === 'silence' ? 1_000 : 60_000
    t.match(await ask('example.com', { whoisPort, timeoutMs }), { expiresAt: null, error, isSilent }, what)
  }
})

t.test('An endless WHOIS response is cut, and circular referrals end', async t => {
  const flood = await startRawServer(t, socket => {
    const more = () => {
      while (!socket.destroyed && socket.write('x'.repeat(65_536)));
    }
    socket.on('drain', more).once('data', more)
  })
  t.match(await ask('example.com', { whoisPort: flood }), { expiresAt: null })
  let questions = 0
  const ports: number[] = []
  for (const i of [0, 1]) {
    ports.push(
      await startWhois(() => {
        questions++
        return `refer: 127.0.0.1:${ports[1 - i]}\r\n`
      }),
    )
  }
  t.match(await ask('example.com', { whoisPort: ports[0] }), { expiresAt: null })
  t.equal(questions, 2)
})

t.test('WHOIS follows a referral', async t => {
  const first = await startWhois(() => `refer: 127.0.0.1:${whois}\r\n`)
  t.match(await ask('example.uk', { whoisPort: first }), {
    expiresAt: new Date('2027-03-09T00:00:00Z'),
    source: 'whois',
  })
})

t.test('A registry without dates does not count as a failure', async t => {
  rdap.behave({ kind: 'answer', body: '{"objectClassName":"domain","events":[]}' })
  t.match(await ask('example.de'), { expiresAt: null, isSilent: true })
})

t.test('Internal addresses are not queried without permission', async t => {
  const outcome = await ask('example.com', { egress: createEgress({ allow: [] }) })
  t.match(outcome, { error: /RDAP at .*cannot be a target.*WHOIS at .*cannot be a target/ })
})
