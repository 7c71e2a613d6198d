import { getClientNetwork } from '../../foundation/web/limits/client-network.ts'

/** Who sends a request, from where, and what it counts against. */
export type ClientInfo = { network: string; ip: string; userAgent: string | undefined }

type ClientRequest = { ip: string; socket: { remoteAddress?: string }; headers: { 'user-agent'?: string } }

export const getClientInfo = (request: ClientRequest): ClientInfo => ({
  network: getClientNetwork(request),
  ip: request.ip,
  userAgent: request.headers['user-agent'],
})
