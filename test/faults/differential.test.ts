/**
 * Checks the same targets, good and bad, with prometheus-blackbox-exporter and with Picket. Where the two disagree,
 * the row contains the reason. A disagreement without a reason fails, and so does a reason without a disagreement.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import t from 'tap'
import { runCheck } from '../../probe-agent/execution/run-check.ts'
import type { CheckSpec } from '../../shared/checks/check.ts'
import { Outcome } from '../../shared/checks/result.ts'
import { createEgress } from '../../shared/egress/index.ts'
import { startBlackHole } from '../support/black-hole.ts'
import { type BlackboxModule, startBlackbox } from '../support/blackbox.ts'
import { createAuthority, type KeyPair } from '../support/certificates.ts'
import { echoes, endlessHeaders, flood, greets, type HostileCheck, hostileTargets } from '../support/hostile-targets.ts'
import { startRawServer } from '../support/raw-server.ts'
import { createCheckSpec } from '../support/spec.ts'
import { type Behaviour, startTarget } from '../support/target.ts'
import { startTlsServer } from '../support/tls-server.ts'

/** Timeout for a program that should report down; targets that hang take this long. */
const TIMEOUT_MS = 1_500
/** Timeout for a program that should report up, long enough for a busy machine. */
const PATIENT_MS = 60_000
const MIB = 1024 * 1024

const authority = createAuthority(t)
const folder = mkdtempSync(join(tmpdir(), 'picket-differential-'))
t.teardown(() => rmSync(folder, { recursive: true }))
writeFileSync(join(folder, 'ca.crt'), authority.ca)

const { answers, sends, web, port, hops, guarded, asks } = hostileTargets(t)
const page = (body: string | Buffer, headers: Record<string, string> = {}, status = 200): Behaviour => ({
  kind: 'answer',
  body,
  headers,
  status,
})
const gzipped = (body: Buffer) => page(body, { 'content-encoding': 'gzip' })
const overTls = (makePair: () => KeyPair) => async () => ({
  spec: { url: `https://localhost:${await startTlsServer(t, makePair())}/` },
})
const at =
  (url: string, spec: Partial<CheckSpec> = {}, module = {}) =>
  async () => ({ spec: { url, ...spec }, module })
const seek = (keyword: string, keywordType = 'contains') => ({ type: 'keyword', keyword, keywordType })

/** The settings of a module are under the name of its prober. */
const http = (settings: object) => ({ http: settings })
const tcp = (settings: object) => ({ prober: 'tcp', tcp: settings })
const mustMatch = (pattern: string, more = {}) => http({ fail_if_body_not_matches_regexp: [pattern], ...more })
const mustNotMatch = (pattern: string) => http({ fail_if_body_matches_regexp: [pattern] })
const unzipped = { compression: 'gzip', headers: { 'Accept-Encoding': 'gzip' } }
const expects = (pattern: string) => tcp({ query_response: [{ expect: pattern }] })
const wantsLive = [{ type: 'header', operator: 'equals', value: 'X-Env: live' }]
const mustBeLive = http({ fail_if_header_not_matches: [{ header: 'X-Env', regexp: '^live$' }] })
const [known, wrong] = [
  { username: 'a', password: 'b' },
  { username: 'a', password: 'c' },
]

const TRANSFER = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n'
const LENGTH = 'HTTP/1.1 200 OK\r\nContent-Length:'
const NO_TARGET = 'an answer of 300 to 399 without a location is a success for Picket; its default is 2xx only'

type Row = [what: string, is: 'up' | 'down', start: () => Promise<HostileCheck>, becauseWeDiffer?: string]

const ROWS: Row[] = [
  ['a plain 200', 'up', answers(page('ok'))],
  ['a 204 without a body', 'up', answers(page('', {}, 204))],
  ['a 304', 'up', answers(page('', {}, 304)), NO_TARGET],
  ['a 302 without a location', 'up', answers(page('', {}, 302)), NO_TARGET],
  ['a 404', 'down', answers(page('', {}, 404))],
  ['a 500', 'down', answers(page('', {}, 500))],
  ['an early hint before a 200', 'up', sends(`HTTP/1.1 103 Early Hints\r\n\r\n${LENGTH} 0\r\n\r\n`)],
  ['another protocol', 'down', sends('HTTP/1.1 101 Now\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n')],
  ['a redirect to a page', 'up', hops(1)],
  ['ten redirects', 'up', hops(10)],
  ['eleven redirects', 'down', hops(11)],
  ['redirects in a circle', 'down', answers({ kind: 'redirect', to: '/' })],
  ['a redirect to a file', 'down', answers({ kind: 'redirect', to: 'file:///etc/passwd' })],
  ['an answer that drips in time', 'up', answers({ kind: 'drip', everyMs: 20, body: 'a few drops' })],
  ['an answer that drips for ever', 'down', answers({ kind: 'drip', everyMs: 20, endless: true })],
  ['eight MiB', 'up', answers({ kind: 'big', bytes: 8 * MIB })],
  ['a body without end', 'up', web(flood), 'we have seen enough after 1 MiB; it reads until its timeout'],
  ['less than its length says', 'down', sends(`${LENGTH} 50\r\n\r\nshort`)],
  ['more than its length says', 'up', sends(`${LENGTH} 2\r\n\r\nokand more`)],
  ['two lengths that differ', 'down', sends(`${LENGTH} 2\r\nContent-Length: 3\r\n\r\nok`)],
  ['chunks that break off', 'down', sends(`${TRANSFER}5\r\nhel`)],
  ['a chunk of no size', 'down', sends(`${TRANSFER}xyz\r\nhello\r\n`)],
  ['something that is not HTTP', 'down', sends('SSH-2.0-OpenSSH_9.2\r\n')],
  ['nothing at all, then the end', 'down', sends('')],
  ['headers without end', 'down', web(endlessHeaders)],
  [
    'headers of 100 kB',
    'down',
    sends(`HTTP/1.1 200 OK\r\n${'X-Long: 0123456789\r\n'.repeat(5_000)}Content-Length: 0\r\n\r\n`),
    'headers of more than 64 kB are refused; it takes 10 MB',
  ],

  ['a keyword that is there', 'up', answers(page('all is well'), seek('well'), mustMatch('well'))],
  ['a keyword that is not', 'down', answers(page('all is ill'), seek('well'), mustMatch('well'))],
  ['a word that must not be', 'down', answers(page('error'), seek('error', 'not_contains'), mustNotMatch('error'))],
  ['an expression', 'up', answers(page('order 47'), seek('order \\d+$', 'regex'), mustMatch('order \\d+$'))],
  ['(a+)+$ on a MiB', 'up', answers(page('a'.repeat(MIB)), seek('(a+)+$', 'regex'), mustMatch('(a+)+$'))],
  ['a keyword on an error page', 'down', answers(page('well', {}, 500), seek('well'), mustMatch('well'))],
  [
    'a keyword in another charset',
    'up',
    answers(
      page(Buffer.from('grüße', 'latin1'), { 'content-type': 'text/html; charset=iso-8859-1' }),
      seek('grüße'),
      mustMatch('grüße'),
    ),
    'it compares bytes and knows no charsets',
  ],
  [
    'a keyword after the first MiB',
    'down',
    answers(page(`${'x'.repeat(MIB)}end`), seek('end'), mustMatch('end')),
    'we look at 1 MiB; it looks at everything',
  ],
  ['a gzipped keyword', 'up', answers(gzipped(gzipSync('well')), seek('well'), mustMatch('well', unzipped))],
  [
    'a gzipped page that is cut off',
    'down',
    answers(gzipped(gzipSync('well '.repeat(999)).subarray(0, 40)), seek('well'), mustMatch('well', unzipped)),
  ],
  ['a bomb', 'down', answers(gzipped(gzipSync(Buffer.alloc(200 * MIB))), seek('well'), mustMatch('well', unzipped))],
  [
    'brotli',
    'up',
    answers(
      page(brotliCompressSync('well'), { 'content-encoding': 'br' }),
      seek('well'),
      mustMatch('well', { compression: 'br' }),
    ),
  ],
  ['a body posted', 'up', answers(page('ok'), { method: 'POST', body: '{}' }, http({ method: 'POST', body: '{}' }))],
  ['a HEAD', 'up', answers(page('ok'), { method: 'HEAD' }, http({ method: 'HEAD' }))],
  [
    'a name and password',
    'up',
    guarded('Authorization: Basic YTpi', { $case: 'basic', value: known }, http({ basic_auth: known })),
  ],
  [
    'a wrong password',
    'down',
    guarded('Authorization: Basic YTpi', { $case: 'basic', value: wrong }, http({ basic_auth: wrong })),
  ],
  [
    'a bearer token',
    'up',
    guarded('Authorization: Bearer t', { $case: 'bearerToken', value: 't' }, http({ bearer_token: 't' })),
  ],
  [
    'a header of one’s own',
    'up',
    guarded('X-Key: k', { $case: 'header', value: { name: 'X-Key', value: 'k' } }, http({ headers: { 'X-Key': 'k' } })),
  ],
  ['a wrong header', 'down', answers(page('ok', { 'x-env': 'test' }), { assertions: wantsLive }, mustBeLive)],

  ['silence after the connection', 'down', answers({ kind: 'hang', after: 'connect' })],
  ['silence after the headers', 'down', answers({ kind: 'hang', after: 'headers' })],
  ['a reset instead of an answer', 'down', answers({ kind: 'reset', after: 'connect' })],
  ['a reset in the middle', 'down', answers({ kind: 'reset', after: 'headers' })],
  ['a port that refuses', 'down', at('http://127.0.0.1:1/')],
  ['a port that swallows', 'down', async () => at(`http://127.0.0.1:${await startBlackHole(t)}/`)()],
  ['a name that does not exist', 'down', at('http://nowhere.invalid/')],

  ['a certificate that holds', 'up', overTls(() => authority.issue('localhost', -1, 30))],
  ['a certificate that ends tomorrow', 'up', overTls(() => authority.issue('localhost', -30, 1))],
  ['a long chain', 'up', overTls(() => authority.issueLong('localhost', 5))],
  ['a chain without its middle', 'down', overTls(() => firstOnly(authority.issueLong('localhost', 2)))],
  ['an expired certificate', 'down', overTls(() => authority.issue('localhost', -30, -1))],
  ['a certificate of the future', 'down', overTls(() => authority.issue('localhost', 1, 30))],
  ['a self-signed certificate', 'down', overTls(() => authority.selfSigned('localhost'))],
  ['a certificate for another host', 'down', overTls(() => authority.issue('other.example', -1, 30))],
  ['plain HTTP for TLS', 'down', async () => at(`https://localhost:${(await startTarget(t)).port}/`)()],
  [
    'TLS for plain HTTP',
    'down',
    async () => at(`http://localhost:${await startTlsServer(t, authority.issue('localhost', -1, 9))}/`)(),
  ],
  ['silence in the handshake', 'down', async () => at(`https://localhost:${await startRawServer(t, () => {})}/`)()],

  ['a tcp port that is open', 'up', port(() => {}, {}, tcp({}))],
  ['a tcp port that refuses', 'down', at('127.0.0.1:1', { type: 'tcp' }, tcp({}))],
  ['a banner', 'up', port(greets, { keyword: '^220 .*ESMTP', keywordType: 'regex' }, expects('^220 .*ESMTP'))],
  ['another banner', 'down', port(greets, { keyword: 'IMAP' }, expects('IMAP'))],
  ['a port that accepts and stalls', 'down', port(() => {}, { keyword: 'ESMTP' }, expects('ESMTP'))],
  [
    'an answer to what was sent',
    'up',
    port(
      echoes,
      { body: 'PING\n', keyword: '+PING' },
      tcp({ query_response: [{ send: 'PING' }, { expect: '[+]PING' }] }),
    ),
  ],
  [
    'a banner without the end of its line',
    'up',
    port(socket => socket.write('220 ready'), { keyword: 'ready' }, expects('ready')),
    'it reads lines, we read what comes',
  ],

  ['a name that a DNS server knows', 'up', asks('shop.test')],
  ['a name that does not exist there', 'down', asks('gone.test', 'nxdomain')],
  [
    'a name without such a record',
    'down',
    asks('gone.test'),
    'it is content with the code NOERROR, we ask for a record',
  ],
  ['this machine, pinged', 'up', at('127.0.0.1', { type: 'ping' }, { prober: 'icmp' })],
]

function firstOnly({ key, cert }: KeyPair): KeyPair {
  const end = '-----END CERTIFICATE-----'
  return { key, cert: cert.slice(0, cert.indexOf(end) + end.length) }
}

/** The module of the row; otherwise as close to Picket's behaviour as it can be configured. */
function buildModule({ module = {}, spec }: HostileCheck, timeoutMs: number): BlackboxModule {
  const given = module as Partial<BlackboxModule>
  const prober = given.prober ?? 'http'
  const shared = { preferred_ip_protocol: 'ip4', ...(given[prober] as object) }
  const trust = spec.url.startsWith('https:') ? { tls_config: { ca_file: join(folder, 'ca.crt') } } : {}
  return { timeout: `${timeoutMs}ms`, prober, [prober]: { ...shared, ...trust } }
}

t.test('The same targets are checked by blackbox_exporter and by Picket', async t => {
  const resolver = async (name: string) => (name === 'localhost' ? ['127.0.0.1'] : [])
  const egress = createEgress({ allow: ['127.0.0.0/8'], resolver, trust: [authority.ca] })
  const asked = await Promise.all(ROWS.map(([, , start]) => start()))
  const chooseTimeout = (isUp: boolean) => (isUp ? PATIENT_MS : TIMEOUT_MS)
  const modules = ROWS.map(([, is, , becauseWeDiffer], i) => {
    const isUpForThem = (is === 'up') === (becauseWeDiffer === undefined)
    return [`row${i}`, buildModule(asked[i]!, chooseTimeout(isUpForThem))]
  })
  const blackbox = await startBlackbox(t, Object.fromEntries(modules))
  for (const [i, [what, is, , becauseWeDiffer]] of ROWS.entries()) {
    const { spec, target = spec.url } = asked[i]!
    const [own, theirs] = await Promise.all([
      runCheck(createCheckSpec({ timeoutMs: chooseTimeout(is === 'up'), ...spec }), egress),
      blackbox(`row${i}`, target),
    ])
    const { error } = own.observation
    t.equal(own.outcome, is === 'up' ? Outcome.UP : Outcome.DOWN, `${what} is ${is}: ${error?.message ?? 'no error'}`)
    const agrees = theirs.isUp === (is === 'up')
    t.equal(agrees, becauseWeDiffer === undefined, `${what}: ${becauseWeDiffer ?? 'both agree'}`, { log: theirs.log })
  }
})
