import { getClientNetwork } from '../../foundation/web/limits/client-network.ts'

/** The client of a request. `network`: what its requests are counted against. */
export type ClientInfo = { network: string; ip: string; userAgent: string | undefined }

type ClientRequest = { ip: string; socket: { remoteAddress?: string }; headers: { 'user-agent'?: string } }

export const getClientInfo = (request: ClientRequest): ClientInfo => ({
  network: getClientNetwork(request),
  ip: request.ip,
  userAgent: request.headers['user-agent'],
})
