import type { Socket } from 'node:net'
import { dial } from './connect.ts'
import { failureOf, targetFailure } from './failure.ts'
import type { Egress } from './index.ts'
import { enter, type Trip } from './trip.ts'
import type { UdpServer } from './udp.ts'

const LENGTH_BYTES = 2

/** Asks one question over a TCP connection of its own (RFC 7766). Rejects with an EgressFailure. */
export async function exchangeTcp(trip: Trip, server: UdpServer, message: Buffer, egress: Egress): Promise<Buffer> {
  const socket = await dial(trip, server.address, server.port, egress)
  enter(trip, 'dnsUs')
  try {
    return await receive(trip, socket, message)
  } finally {
    socket.destroy()
  }
}

function receive(trip: Trip, socket: Socket, message: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let received = Buffer.alloc(0)
    trip.cancel = reject
    socket.on('error', error => reject(failureOf(error)))
    socket.on('close', () => reject(targetFailure('connection_reset', 'the server closed the connection')))
    socket.on('data', (chunk: Buffer) => {
      received = Buffer.concat([received, chunk])
      if (received.length < LENGTH_BYTES) return
      const end = LENGTH_BYTES + received.readUInt16BE(0)
      if (received.length >= end) resolve(received.subarray(LENGTH_BYTES, end))
    })
    const length = Buffer.alloc(LENGTH_BYTES)
    length.writeUInt16BE(message.length)
    socket.write(Buffer.concat([length, message]))
  })
}
