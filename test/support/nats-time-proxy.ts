import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { Teardown } from './teardown.ts'

/** From this time on (ms since 1970) the server's clock is ahead by this much. */
type Era = { fromMs: number; aheadMs: number }

type NatsTimeProxy = {
  url: string
  /** Sets how far the server's clock is ahead. Messages stored before keep their times. */
  setAhead(ms: number): void
}

const CRLF = '\r\n'
/** Times in JetStream's answers. `created` is unchanged, because setting a clock does not change a stream's age. */
const TIMES = /"(time|last_ts|first_ts)":"([^"]+)"/g
const START_TIME = /"opt_start_time":"([^"]+)"/

/**
 * A NATS server whose clock can be set: times in ack subjects and in answers of JetStream are rewritten by a proxy,
 * because `faketime` does not work with Go programs.
 */
export async function startNatsTimeProxy(t: Teardown, natsUrl: string): Promise<NatsTimeProxy> {
  const { hostname, port } = new URL(natsUrl)
  const eras: Era[] = [{ fromMs: Number.NEGATIVE_INFINITY, aheadMs: 0 }]
  const sockets = new Set<Socket>()
  const shown = (trueMs: number) => trueMs + eras.findLast(({ fromMs }) => fromMs <= trueMs)!.aheadMs

  /** The first moment at which the server's clock showed this time or a later one. */
  const meant = (shownMs: number) => {
    for (const [i, { fromMs, aheadMs }] of eras.entries()) {
      const ms = Math.max(fromMs, shownMs - aheadMs)
      if (ms < (eras[i + 1]?.fromMs ?? Number.POSITIVE_INFINITY)) return ms
    }
    return Date.now()
  }

  const toClient = (head: string[], payload: string) => {
    const reply = head.findIndex((word, i) => i > 2 && word.startsWith('$JS.ACK.'))
    if (reply > 0) head[reply] = withTime(head[reply]!, shown)
    return payload.replace(TIMES, (_, name, time) => `"${name}":"${movedTime(time, shown)}"`)
  }
  const toServer = (_head: string[], payload: string) =>
    payload.replace(START_TIME, (_, time) => `"opt_start_time":"${movedTime(time, meant)}"`)

  const proxy = createServer(client => {
    const server = connect(Number(port), hostname)
    for (const socket of [client, server]) {
      sockets.add(socket)
      socket
        .on('error', () => {})
        .on('close', () => {
          sockets.delete(socket)
          client.destroy()
          server.destroy()
        })
    }
    server.on(
      'data',
      rewriting(/^H?MSG /, toClient, bytes => client.write(bytes)),
    )
    client.on(
      'data',
      rewriting(/^H?PUB /, toServer, bytes => server.write(bytes)),
    )
  })
  await new Promise<void>(resolve => proxy.listen(0, '127.0.0.1', resolve))
  t.teardown(async () => {
    const closed = new Promise(resolve => proxy.close(resolve))
    for (const socket of sockets) socket.destroy()
    await closed
  })
  return {
    url: `nats://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    setAhead: aheadMs => void eras.push({ fromMs: Date.now(), aheadMs }),
  }
}

/** Forwards the NATS protocol. Messages with a payload can be changed: the first line, as words, and the payload without headers. */
function rewriting(
  withPayload: RegExp,
  change: (head: string[], payload: string) => string,
  pass: (bytes: Buffer) => void,
): (chunk: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0)
  return chunk => {
    rest = Buffer.concat([rest, chunk])
    for (;;) {
      const end = rest.indexOf(CRLF)
      if (end < 0) return
      const line = rest.toString('latin1', 0, end)
      if (!withPayload.test(line)) {
        pass(rest.subarray(0, end + 2))
        rest = rest.subarray(end + 2)
        continue
      }
      const head = line.split(' ')
      const size = Number(head.at(-1))
      const total = end + 2 + size + 2
      if (rest.length < total) return
      const headerSize = line.startsWith('H') ? Number(head.at(-2)) : 0
      const headers = rest.subarray(end + 2, end + 2 + headerSize)
      const body = rest.subarray(end + 2 + headerSize, total - 2)
      // protobuf is forwarded unchanged
      const changed = Buffer.from(change(head, body.toString('latin1')), 'latin1')
      head[head.length - 1] = String(headerSize + changed.length)
      pass(Buffer.concat([Buffer.from(head.join(' ') + CRLF, 'latin1'), headers, changed, Buffer.from(CRLF)]))
      rest = rest.subarray(total)
    }
  }
}

/** `$JS.ACK.<stream>.<consumer>.<delivered>.<sequence>.<consumer's sequence>.<ns since 1970>.<pending>` */
function withTime(subject: string, shown: (ms: number) => number): string {
  const words = subject.split('.')
  const at = words.length === 9 ? 7 : 9
  const ns = BigInt(words[at]!)
  const ms = Number(ns / 1_000_000n)
  words[at] = String(BigInt(Math.round(shown(ms))) * 1_000_000n + (ns % 1_000_000n))
  return words.join('.')
}

/** A time in RFC 3339; digits below a millisecond are kept. */
function movedTime(time: string, moved: (ms: number) => number): string {
  const finer = /\.\d{3}(\d*)/.exec(time)?.[1] ?? ''
  return new Date(moved(Date.parse(time))).toISOString().replace('Z', `${finer}Z`)
}
