import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getPriority } from 'node:os'
import t from 'tap'
import { createShutter, type ShutterSettings } from '../../probe-agent/screenshots/shutter.ts'
import { chromiumPath, openPictures } from '../support/browser.ts'
import { startTarget } from '../support/target.ts'
import type { Teardown } from '../support/teardown.ts'
import { waitFor } from '../support/wait.ts'

t.setTimeout(120_000)

const program = new URL('../../dist/screenshot.js', import.meta.url).pathname

/** What a probe may reach in these tests: 127.0.0.1, and nothing else of this machine. */
const shutterOf = (settings: Partial<ShutterSettings> = {}) =>
  createShutter({ browser: { path: chromiumPath() }, egressAllow: ['127.0.0.1'], memoryMb: 768, program, ...settings })

const html = (body: string) => ({ kind: 'answer', headers: { 'content-type': 'text/html' }, body }) as const
const pictureOf = (url: string, headers: Record<string, string> = {}) => ({ url, headers, format: 'jpeg' }) as const

/** A server and a UDP socket on 127.0.0.2, which no page may reach. */
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

t.test('nothing that a page asks for leads inwards: subresources, frames, sockets, WebRTC, redirects', async t => {
  const [inside, target, pictures] = await Promise.all([startInside(t), startTarget(t), openPictures(t)])
  const at = `http://${inside.origin}`
  target.behaveAt('/redirect.png', { kind: 'redirect', to: `${at}/redirected.png` })
  target.behaveAt('/away', { kind: 'redirect', to: `${at}/` })
  target.behave(
    html(`<body style="background:#00c000"><link rel=preconnect href="${at}"><link rel=dns-prefetch href="//inside.example">
      <img src="${at}/a.png"><img src="/redirect.png"><iframe src="${at}/frame"></iframe>
      <iframe src="file:///etc/passwd"></iframe><link rel=stylesheet href="https://${inside.origin}/a.css">
      <img src="http://[::ffff:127.0.0.2]:${inside.origin.split(':')[1]}/mapped.png">
      <script>
        fetch('${at}/fetch', { mode: 'no-cors' }).catch(() => {})
        new WebSocket('ws://${inside.origin}/socket')
        navigator.sendBeacon('${at}/beacon', 'x')
        const worker = new Worker(URL.createObjectURL(new Blob(["fetch('${at}/worker', { mode: 'no-cors' })"])))
        const peer = new RTCPeerConnection({ iceServers: [{ urls: 'stun:${inside.origin}' },
          { urls: 'turn:${inside.origin}?transport=tcp', username: 'a', credential: 'b' }] })
        peer.createDataChannel('a')
        peer.createOffer().then(offer => peer.setLocalDescription(offer))
      </script>`),
  )
  const shutter = shutterOf()
  const { statusCode, contentType, bytes } = await shutter.take(pictureOf(target.url))
  t.equal(statusCode, 200)
  t.equal((await pictures.look(bytes, contentType, 1270, 790)).rgb[1]! > 150, true, 'the page itself is in the picture')
  t.ok(target.requests.some(({ path }) => path === '/redirect.png'))
  await t.rejects(shutter.take(pictureOf(`${target.url}away`)), 'a page that leads inwards has no picture')
  t.equal(inside.seen(), 0)

  await shutterOf({ egressAllow: ['127.0.0.0/8', '::1'] }).take(pictureOf(target.url))
  t.ok(inside.seen() >= 5, 'the page does all that when it may')
})

t.test('a monitor’s headers go to its own origin, and to nobody whom the page or a redirect names', async t => {
  const [target, other] = await Promise.all([startTarget(t), startTarget(t)])
  target.behave(html(`<img src="${other.url}a.png"><img src="/own.png"><img src="/hop.png">`))
  target.behaveAt('/hop.png', { kind: 'redirect', to: `${other.url}hopped.png` })
  await shutterOf().take(pictureOf(target.url, { authorization: 'Bearer of-the-target' }))
  const tokens = (requests: typeof target.requests) => [
    ...new Set(requests.map(({ headers }) => headers.authorization)),
  ]
  t.same(tokens(target.requests), ['Bearer of-the-target'])
  t.ok(other.requests.length >= 2)
  t.same(tokens(other.requests), [undefined])
})

t.test('the browser has no rights: not root, no privileges to win, the lowest priority', async t => {
  const target = await startTarget(t)
  target.behave({ kind: 'hang', after: 'connect' })
  const shutter = shutterOf()
  const picture = shutter.take(pictureOf(target.url))
  await waitFor(() => target.requests.length > 0, { label: 'the browser to ask' })
  const own = statusesOfBrowsers()
  t.ok(own.length > 3)
  for (const status of own) {
    if (process.getuid?.() === 0) t.match(status, /^Uid:\s+65534\s+65534\s+65534\s+65534$/m)
    t.match(status, /^NoNewPrivs:\s+1$/m)
    t.equal(getPriority(field(status, 'Pid')), 19)
  }
  shutter.stop()
  await t.rejects(picture)
  await waitFor(() => own.every(hasEnded), { label: 'no browser left' })
})

t.test('a page that never ends is photographed as far as it came; one that never rests is given up', async t => {
  const target = await startTarget(t)
  target.behave({ kind: 'drip', everyMs: 20, body: '<p>more', endless: true })
  const seen = new Map<number, string>()
  const watching = setInterval(() => {
    for (const status of statusesOfBrowsers()) seen.set(field(status, 'Pid'), status)
  }, 100)
  t.teardown(() => clearInterval(watching))
  const startedMs = performance.now()
  t.equal((await shutterOf().take(pictureOf(target.url))).statusCode, 200)
  t.ok(performance.now() - startedMs < 15_000)

  target.behave(html('<script>for (;;);</script>'))
  await t.rejects(shutterOf({ withinMs: 6_000 }).take(pictureOf(target.url)), { message: /stuck|too long|timeout/i })
  target.behave(html('<script>const kept = []; setInterval(() => kept.push(new Uint8Array(2e7).fill(7)), 5)</script>'))
  await t.rejects(shutterOf({ memoryMb: 300 }).take(pictureOf(target.url)), { message: /memory/ })
  t.ok(seen.size > 9)
  await waitFor(() => [...seen.values()].every(hasEnded), { label: 'no browser left' })
})

/** `/proc/…/status` of the browser's processes below this one, at any depth. */
function statusesOfBrowsers(): string[] {
  const all = readdirSync('/proc')
    .filter(name => /^\d+$/.test(name))
    .map(statusOf)
  const parents = new Map(all.map(status => [field(status, 'Pid'), field(status, 'PPid')]))
  const isBelow = (pid: number): boolean => {
    const parent = parents.get(pid) ?? 0
    return parent === process.pid || (parent > 1 && isBelow(parent))
  }
  return all.filter(status => isBrowser(status) && isBelow(field(status, 'Pid')))
}

const isBrowser = (status: string) => /^Name:\s+chrom/m.test(status) && !/^State:\s+Z/m.test(status)

const hasEnded = (status: string) => !isBrowser(statusOf(String(field(status, 'Pid'))))

const field = (status: string, name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0)

function statusOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/status`, 'utf8')
  } catch {
    return ''
  }
}
