import { clientNetworkOf } from '../../web/network.ts'

/** Who sends a request, from where, and what it counts against. */
export type Visitor = { network: string; ip: string; userAgent: string | undefined }

type Asked = { ip: string; socket: { remoteAddress?: string }; headers: { 'user-agent'?: string } }

export const visitorOf = (request: Asked): Visitor => ({
  network: clientNetworkOf(request),
  ip: request.ip,
  userAgent: request.headers['user-agent'],
})
