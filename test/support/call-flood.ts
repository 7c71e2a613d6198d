import { randomBytes } from 'node:crypto'
import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2'
import { connect } from 'node:net'
import type { Teardown } from './teardown.ts'

type CallFlood = {
  /** calls that have ended */
  answered(): number
  /** the messages of the answers, with the number of each */
  messages(): Map<string, number>
}

type CallFloodOptions = {
  /** client addresses, from 127.0.1.1 */
  addresses: number
  connectionsPerAddress: number
  callsPerConnection: number
  /** between the end of a call and the next one in its place */
  pauseMs: number
}

/** Calls the gRPC port with unknown secrets of probes, from several addresses of this machine, until the test ends. */
export function startCallFlood(t: Teardown, port: number, options: CallFloodOptions): CallFlood {
  const { addresses, connectionsPerAddress, callsPerConnection, pauseMs } = options
  const sessions = new Set<ClientHttp2Session>()
  const messages = new Map<string, number>()
  let answered = 0
  let isOver = false

  const open = (localAddress: string) => {
    const createConnection = () => connect({ port, host: '127.0.0.1', localAddress })
    const session = connectHttp2(`http://127.0.0.1:${port}`, { createConnection })
    sessions.add(session)
    session.on('error', () => {}).on('close', () => sessions.delete(session))
    for (let i = 0; i < callsPerConnection; i++) call(session)
  }
  const call = (session: ClientHttp2Session) => {
    if (isOver || session.closed || session.destroyed) return
    const stream = session.request({
      ':method': 'POST',
      ':path': '/picket.probe.v1.Fleet/Connect',
      'content-type': 'application/grpc',
      te: 'trailers',
      authorization: `Bearer prs_${randomBytes(32).toString('base64url')}`,
    })
    const note = (headers: Record<string, unknown>) => {
      const message = headers['grpc-message']
      if (typeof message === 'string') messages.set(message, (messages.get(message) ?? 0) + 1)
    }
    stream
      .on('response', note)
      .on('trailers', note)
      .on('error', () => {})
    // the server ends only its own side of the stream
    stream.on('end', () => stream.close())
    stream.on('close', () => {
      answered++
      setTimeout(() => call(session), pauseMs).unref()
    })
    stream.resume()
  }
  for (let address = 1; address <= addresses; address++) {
    for (let i = 0; i < connectionsPerAddress; i++) open(`127.0.1.${address}`)
  }
  t.teardown(() => {
    isOver = true
    for (const session of sessions) session.destroy()
  })
  return { answered: () => answered, messages: () => messages }
}
