import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import type { Teardown } from './teardown.ts'

/** A TCP server on a free port of 127.0.0.1 that passes each connection to `handle`. Returns the port. */
export async function startRawServer(t: Teardown, handle: (socket: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>()
  const server = createServer(socket => {
    sockets.add(socket)
    socket.on('error', () => {}).on('close', () => sockets.delete(socket))
    handle(socket)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

/** Sends `bytes` when a request has arrived, and closes. */
export function startFixedResponse(t: Teardown, bytes: string | Buffer): Promise<number> {
  return startRawServer(t, socket => socket.once('data', () => socket.end(bytes)))
}

/** A DNS server for questions of type A and AAAA; `answer` gives addresses of IPv4, or a code such as 3 for NXDOMAIN. */
export async function startDnsServer(t: Teardown, answer: (name: string) => string[] | number): Promise<string> {
  const server = createSocket('udp4')
  server.on('message', (query, peer) => server.send(dnsReply(query, answer), peer.port, peer.address))
  server.bind(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  return `127.0.0.1:${server.address().port}`
}

function dnsReply(query: Buffer, answer: (name: string) => string[] | number): Buffer {
  const labels: string[] = []
  let end = 12
  while (query[end] !== 0) {
    labels.push(query.toString('latin1', end + 1, end + 1 + query[end]!))
    end += 1 + query[end]!
  }
  const isA = query.readUInt16BE(end + 1) === 1
  const found = answer(labels.join('.').toLowerCase())
  const addresses = typeof found === 'number' || !isA ? [] : found
  const header = Buffer.alloc(12)
  query.copy(header, 0, 0, 2)
  header.writeUInt16BE(0x8180 | (typeof found === 'number' ? found : 0), 2)
  header.writeUInt16BE(1, 4)
  header.writeUInt16BE(addresses.length, 6)
  const records = addresses.map(address =>
    Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 1, 0, 4, ...address.split('.').map(Number)]),
  )
  return Buffer.concat([header, query.subarray(12, end + 5), ...records])
}
