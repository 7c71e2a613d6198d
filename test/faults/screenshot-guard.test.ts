import { spawn } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getPriority } from 'node:os'
import t from 'tap'
import { type CaptureSettings, createScreenshotCapture } from '../../probe-agent/screenshots/capture.ts'
import { openPictures } from '../support/browser.ts'
import { chromiumPath } from '../support/chromium-path.ts'
import { startTarget } from '../support/target.ts'
import type { Teardown } from '../support/teardown.ts'
import { HANG_MS, waitFor } from '../support/wait.ts'

// takes about 90 s

const program = new URL('../../dist/screenshot.js', import.meta.url).pathname

/** In these tests a probe can reach only 127.0.0.1 of this machine. The time limits are for a busy machine. */
const settings = {
  browser: { path: chromiumPath() },
  egressAllow: ['127.0.0.1'],
  egressDeny: [],
  // a test machine may not allow a sandbox
  mayLackSandbox: true,
  memoryMb: 768,
  program,
  withinMs: HANG_MS,
}
const createCapture = (changes: Partial<CaptureSettings> = {}) => createScreenshotCapture({ ...settings, ...changes })

const html = (body: string) => ({ kind: 'answer', headers: { 'content-type': 'text/html' }, body }) as const
const createRequest = (url: string, headers: Record<string, string> = {}) => ({ url, headers, format: 'jpeg' }) as const

/** A server and a UDP socket on 127.0.0.2, which pages may not reach. */
async function startInside(t: Teardown) {
  let seen = 0
  const server = createServer((_request, response) => response.end('secret')).on('connection', () => seen++)
  await once(server.listen(0, '127.0.0.2'), 'listening')
  const { port } = server.address() as AddressInfo
  const udp = createSocket('udp4').on('message', () => seen++)
  udp.bind(port, '127.0.0.2')
  await once(udp, 'listening')
  t.teardown(() => {
    server.close()
    udp.close()
  })
  return { origin: `127.0.0.2:${port}`, seen: () => seen }
}

/** The number of DNS queries of this machine, which a browser makes without a proxy. */
async function startMulticast(t: Teardown) {
  let seen = 0
  const udp = createSocket({ type: 'udp4', reuseAddr: true })
  udp.on('message', message => {
    if (/picket-guard|notfound/i.test(message.toString('latin1'))) seen++
  })
  udp.bind(5353)
  await once(udp, 'listening')
  t.teardown(() => udp.close())
  udp.addMembership('224.0.0.251')
  return () => seen
}

const curious = (at: string) => {
  const [, origin = '', port = ''] = /^http:\/\/(.*:(\d+))$/.exec(at) ?? []
  return html(`<body style="background:#00c000"><link rel=preconnect href="${at}"><link rel=dns-prefetch href="//inside.example">
    <img src="${at}/a.png"><img src="/redirect.png"><iframe src="${at}/frame"></iframe><link rel=prefetch href="${at}/prefetch">
    <iframe src="file:///etc/passwd"></iframe><link rel=stylesheet href="https://${origin}/a.css">
    <img src="http://[::ffff:127.0.0.2]:${port}/mapped.png"><form action="${at}/form" method=post target=_blank></form>
    <script type=speculationrules>{ "prefetch": [{ "source": "list", "urls": ["${at}/rules"] }] }</script>
    <script>
      fetch('${at}/fetch', { mode: 'no-cors' }).catch(() => {})
      new WebSocket('ws://${origin}/socket')
      navigator.sendBeacon('${at}/beacon', 'x')
      const worker = new Worker(URL.createObjectURL(new Blob(["fetch('${at}/worker', { mode: 'no-cors' })"])))
      const shared = new SharedWorker('/shared.js')
      new WebTransport('https://${origin}/quic').ready.catch(() => {})
      open('${at}/window')
      document.forms[0].submit()
      const peer = new RTCPeerConnection({ iceServers: [{ urls: 'stun:${origin}' },
        { urls: 'turn:${origin}?transport=tcp', username: 'a', credential: 'b' }] })
      peer.createDataChannel('a')
      const other = new RTCPeerConnection()
      peer.createOffer().then(async offer => {
        await peer.setLocalDescription(offer)
        await other.setRemoteDescription(offer)
        await other.setLocalDescription(await other.createAnswer())
        await peer.setRemoteDescription(other.localDescription)
        for (const host of ['127.0.0.2', 'picket-guard.local'])
          await peer.addIceCandidate({ candidate: 'candidate:1 1 udp 1 ' + host + ' ${port} typ host', sdpMid: '0' })
      })
    </script>`)
}

t.test('No request of a page reaches internal addresses: subresources, frames, sockets, WebRTC, redirects', async t => {
  const begin = async (changes: Partial<CaptureSettings>) => {
    const [inside, target] = await Promise.all([startInside(t), startTarget(t)])
    const at = `http://${inside.origin}`
    target.behave(curious(at))
    target.behaveAt('/redirect.png', { kind: 'redirect', to: `${at}/redirected.png` })
    target.behaveAt('/away', { kind: 'redirect', to: `${at}/` })
    const headers = { 'content-type': 'text/javascript' }
    target.behaveAt('/shared.js', { kind: 'answer', headers, body: `fetch('${at}/shared', { mode: 'no-cors' })` })
    return { inside, target, capture: createCapture(changes) }
  }
  const asked = await startMulticast(t)
  const held = async () => {
    const [{ inside, target, capture }, pictures] = await Promise.all([begin({}), openPictures(t)])
    const { statusCode, contentType, bytes } = await capture.take(createRequest(target.url))
    t.equal(statusCode, 200)
    t.equal(
      (await pictures.look(bytes, contentType, 1270, 790)).rgb[1]! > 150,
      true,
      'the screenshot shows the page itself',
    )
    t.ok(target.requests.some(({ path }) => path === '/redirect.png'))
    await t.rejects(
      capture.take(createRequest(`${target.url}away`)),
      'a page that redirects to an internal address has no screenshot',
    )
    t.equal(inside.seen(), 0)
  }
  const free = async () => {
    const { inside, target, capture } = await begin({ egressAllow: ['127.0.0.0/8', '::1'] })
    await capture.take(createRequest(target.url))
    t.ok(inside.seen() >= 7, 'the page makes all these requests when it is allowed to')
  }
  await Promise.all([held(), free()])
  t.equal(asked(), 0)
})

t.test('A monitor’s headers are sent to its own origin only, not to origins of the page or a redirect', async t => {
  const [target, other] = await Promise.all([startTarget(t), startTarget(t)])
  target.behave(html(`<img src="${other.url}a.png"><img src="/own.png"><img src="/hop.png">`))
  target.behaveAt('/hop.png', { kind: 'redirect', to: `${other.url}hopped.png` })
  const headers = { authorization: 'Bearer of-the-target', 'x-api-key': 'of-the-target' }
  await createCapture().take(createRequest(target.url, headers))
  const keys = (requests: typeof target.requests) => [
    ...new Set(requests.flatMap(({ headers }) => [headers.authorization, headers['x-api-key']])),
  ]
  t.same(keys(target.requests), Object.values(headers))
  t.ok(other.requests.length >= 2)
  t.same(keys(other.requests), [undefined])
})

t.test('The browser has no privileges and a low priority, and ends with a probe that is killed', async t => {
  const target = await startTarget(t)
  target.behave(html('<script>for (;;);</script>'))
  const probe = startPictureIn(target.url)
  t.teardown(() => probe.kill('SIGKILL'))
  await waitFor(() => target.requests.length > 0, { label: 'the request of the browser' })
  const own = statusesOfBrowsers(probe.pid)
  t.ok(own.length > 3)
  for (const status of own) {
    if (process.getuid?.() === 0) t.match(status, /^Uid:\s+65534\s+65534\s+65534\s+65534$/m)
    t.match(status, /^NoNewPrivs:\s+1$/m)
    t.equal(getPriority(field(status, 'Pid')), 19)
    t.match(read(`/proc/${field(status, 'Pid')}/autogroup`), /^$|nice 5$/m)
  }
  probe.kill('SIGKILL')
  await waitFor(() => own.every(hasEnded), { label: 'no browser left' })
})

t.test('A page that never ends has a screenshot of its state; one that never becomes idle has none', async t => {
  const seen = new Map<number, string>()
  const watching = setInterval(() => {
    for (const status of statusesOfBrowsers(process.pid)) seen.set(field(status, 'Pid'), status)
  }, 100)
  t.teardown(() => clearInterval(watching))
  const endless = async () => {
    const target = await startTarget(t)
    target.behave({ kind: 'drip', everyMs: 20, body: '<p>more', endless: true })
    t.equal((await createCapture().take(createRequest(target.url))).statusCode, 200)
  }
  const givenUp = async (script: string, changes: Partial<CaptureSettings>, message: RegExp) => {
    const target = await startTarget(t)
    target.behave(html(`<script>${script}</script>`))
    await t.rejects(createCapture(changes).take(createRequest(target.url)), { message }, script)
    t.ok(target.requests.length > 0, 'the browser loaded the page')
  }
  const fill = 'const kept = []; for (;;) kept.push(new Uint8Array(2e7).fill(7))'
  await Promise.all([
    endless(),
    givenUp('for (;;);', { withinMs: 180_000 }, /does not respond|too long|timeout/i),
    givenUp(fill, {}, /memory/),
  ])
  t.ok(seen.size > 9)
  await waitFor(() => [...seen.values()].every(hasEnded), { label: 'no browser left' })
})

/** A process like a probe, with a screenshot in progress. */
function startPictureIn(url: string) {
  const source = new URL('../../probe-agent/screenshots/capture.ts', import.meta.url).href
  const code = `import { createScreenshotCapture } from '${source}'
    await createScreenshotCapture(${JSON.stringify(settings)}).take(${JSON.stringify(createRequest(url))})`
  const child = spawn(process.execPath, ['--import=tsx', '--input-type=module', '-e', code], { stdio: 'ignore' })
  return Object.assign(child, { pid: child.pid ?? 0 })
}

/** `/proc/…/status` of the browser's descendant processes. */
function statusesOfBrowsers(rootPid: number): string[] {
  const all = readdirSync('/proc')
    .filter(name => /^\d+$/.test(name))
    .map(readStatus)
  const parents = new Map(all.map(status => [field(status, 'Pid'), field(status, 'PPid')]))
  const isBelow = (pid: number): boolean => {
    const parent = parents.get(pid) ?? 0
    return parent === rootPid || (parent > 1 && isBelow(parent))
  }
  return all.filter(status => isBrowser(status) && isBelow(field(status, 'Pid')))
}

const isBrowser = (status: string) => /^Name:\s+chrom/m.test(status) && !/^State:\s+Z/m.test(status)

const hasEnded = (status: string) => !isBrowser(readStatus(String(field(status, 'Pid'))))

const field = (status: string, name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0)

const readStatus = (pid: string) => read(`/proc/${pid}/status`)

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
