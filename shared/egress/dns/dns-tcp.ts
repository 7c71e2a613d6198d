import type { Socket } from 'node:net'
import { createTargetFailure, toEgressFailure } from '../failure.ts'
import { enterPhase, type PhaseTimer } from '../phases.ts'
import { dial } from '../tcp/connect.ts'
import type { Egress } from '../types.ts'
import type { UdpServer } from './dns-udp.ts'

const LENGTH_BYTES = 2

/** Sends one question over a new TCP connection (RFC 7766). Rejects with an EgressFailure. */
export async function queryOverTcp(
  phases: PhaseTimer,
  server: UdpServer,
  message: Buffer,
  egress: Egress,
): Promise<Buffer> {
  const socket = await dial(phases, server.address, server.port, egress)
  enterPhase(phases, 'dnsUs')
  try {
    return await receive(phases, socket, message)
  } finally {
    socket.destroy()
  }
}

function receive(phases: PhaseTimer, socket: Socket, message: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let received = Buffer.alloc(0)
    phases.cancel = reject
    socket.on('error', error => reject(toEgressFailure(error)))
    socket.on('close', () => reject(createTargetFailure('connection_reset', 'the server closed the connection')))
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
