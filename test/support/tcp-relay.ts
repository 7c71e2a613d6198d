import { createServer, type Socket } from 'node:net'
import { reserveFreePort } from '../../tools/engines/free-port.ts'
import { connectToServer } from './connect-to-server.ts'
import type { Teardown } from './teardown.ts'

export type TcpRelay = {
  /** the given URL, the first of several, through the relay */
  url: string
  /** breaks every connection and refuses new ones, as a stopped server does */
  cut(): Promise<void>
  /** nothing passes and neither side is notified, as behind a switch that hangs; sent data arrives after `restore` */
  hold(): void
  /** the same, but sent data is lost, and the connections end with `restore` */
  swallow(): void
  /** the data of clients that it dropped */
  swallowed(): string
  /**
   * The open connections carry nothing any more, without a reset; new ones work. A host that vanished and was
   * replaced by another one behind the same name looks like this.
   */
  abandon(): void
  /** new connections go to this server; the open ones stay, as when a name or a balancer leads to another host */
  leadTo(target: string): void
  /** lets connections through again, on the same port */
  restore(): Promise<void>
}

type HeaderPair = { inner: Socket; outer: Socket }
type State = 'open' | 'cut' | 'held' | 'swallowing'

/**
 * Makes a server unreachable for one program while the others keep it. Of several targets each connection gets the
 * next one that accepts it, as behind a balancer.
 */
export async function startTcpRelay(t: Teardown, ...first: [string, ...string[]]): Promise<TcpRelay> {
  let targets: string[] = first
  const pairs = new Set<HeaderPair>()
  /** open connections that never carry anything again */
  const abandoned = new Set<HeaderPair>()
  const waiting = new Set<Socket>()
  let state: State = 'open'
  let turn = 0
  let swallowed = ''

  const lead = async (inner: Socket) => {
    const begin = turn++
    for (let i = 0; i < targets.length && !inner.destroyed; i++) {
      const outer = await connected(targets[(begin + i) % targets.length]!)
      if (outer) return join({ inner, outer })
    }
    inner.destroy()
  }
  const join = (pair: HeaderPair) => {
    pairs.add(pair)
    const end = () => {
      pairs.delete(pair)
      abandoned.delete(pair)
      for (const socket of [pair.inner, pair.outer]) socket.destroy()
    }
    for (const socket of [pair.inner, pair.outer]) socket.on('error', () => {}).on('close', end)
    // a cut that came while the target was being connected has not seen this connection, and waits for its end
    if (pair.inner.destroyed || state === 'cut') end()
    else if (state === 'open') link(pair)
  }
  const relay = createServer({ pauseOnConnect: true }, inner => {
    inner.on('error', () => {})
    if (state === 'open') return void lead(inner)
    // it was accepted before the cut and is announced after it
    if (state === 'cut') return void inner.destroy()
    waiting.add(inner)
    inner.on('close', () => waiting.delete(inner))
  })
  const listen = (at: number) => new Promise<void>(resolve => relay.listen(at, '127.0.0.1', resolve))
  const relayPort = await reserveFreePort()
  await listen(relayPort)

  const destroyAll = () => {
    for (const { inner, outer } of [...pairs, ...abandoned]) for (const socket of [inner, outer]) socket.destroy()
    for (const inner of waiting) inner.destroy()
  }
  const stop = (next: State) => {
    // the owner would not know that it must listen again
    if (state !== 'open') throw new Error(`a relay that is ${state} cannot be ${next}`)
    state = next
    for (const pair of pairs) part(pair)
  }
  const cut = async () => {
    state = 'cut'
    const closed = new Promise(resolve => relay.close(resolve))
    destroyAll()
    await closed
  }
  t.teardown(() => relay.listening && cut())
  const url = new URL(first[0])
  url.host = `127.0.0.1:${relayPort}`
  return {
    url: url.href,
    cut,
    hold: () => stop('held'),
    swallow() {
      stop('swallowing')
      for (const { inner, outer } of pairs) {
        inner.on('data', data => {
          swallowed += data.toString('latin1')
        })
        outer.on('data', () => {})
        // a paused socket is not read by a listener alone
        for (const socket of [inner, outer]) socket.resume()
      }
    },
    swallowed: () => swallowed,
    abandon() {
      for (const pair of pairs) {
        part(pair)
        pairs.delete(pair)
        abandoned.add(pair)
        // read, so that the end of the client is noticed; data of the server is not read, as by a proxy that hangs
        pair.inner.on('data', () => {}).resume()
      }
    },
    leadTo(target) {
      targets = [target]
    },
    async restore() {
      const before = state
      state = 'open'
      if (before === 'swallowing') destroyAll()
      if (before === 'held') for (const pair of pairs) link(pair)
      for (const inner of waiting) void lead(inner)
      waiting.clear()
      if (before === 'cut') await listen(relayPort)
    },
  }
}

function link({ inner, outer }: HeaderPair): void {
  inner.pipe(outer)
  outer.pipe(inner)
}

function part({ inner, outer }: HeaderPair): void {
  inner.unpipe(outer).pause()
  outer.unpipe(inner).pause()
}

/** Null when the target does not accept the connection. */
function connected(target: string): Promise<Socket | null> {
  const socket = connectToServer(target)
  return new Promise(resolve => {
    socket.once('connect', () => resolve(socket))
    socket.once('error', () => resolve(null))
  })
}
