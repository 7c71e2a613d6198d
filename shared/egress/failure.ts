import { type CheckError, FailureSource } from '../checks/result.ts'

/** A failure of a request to a target. `code` and `message` are shown to users. */
export class EgressFailure extends Error {
  readonly source: FailureSource
  readonly code: string

  constructor(source: FailureSource, code: string, message: string) {
    super(message)
    this.source = source
    this.code = code
  }
}

/** The abort reason of a deadline. Any other reason means that the work was cancelled. */
export class DeadlineExceededError extends Error {}

export const createTargetFailure = (code: string, message: string) =>
  new EgressFailure(FailureSource.TARGET, code, message)
export const createInternalFailure = (code: string, message: string) =>
  new EgressFailure(FailureSource.INTERNAL, code, message)

const { TARGET, RESOLVER, INTERNAL } = FailureSource

export const CERTIFICATE_EXPIRED = 'the certificate has expired'
export const CERTIFICATE_NOT_YET_VALID = 'the certificate is not valid yet'

/** No DNS server was reached, so the name is not the cause. */
export const RESOLVER_UNREACHABLE = 'no resolver can be reached'

/** System and library error codes: source, code and message. */
const KNOWN: Record<string, readonly [FailureSource, string, string]> = {
  ECONNREFUSED: [TARGET, 'connection_refused', 'the target refused the connection'],
  ECONNRESET: [TARGET, 'connection_reset', 'the target closed the connection'],
  EPIPE: [TARGET, 'connection_reset', 'the target closed the connection'],
  ECONNABORTED: [TARGET, 'connection_reset', 'the target closed the connection'],
  ETIMEDOUT: [TARGET, 'timeout', 'the target does not respond'],
  EHOSTUNREACH: [TARGET, 'host_unreachable', 'the network reports that the target is unreachable'],
  EHOSTDOWN: [TARGET, 'host_unreachable', 'the network reports that the target is down'],
  EPROTO: [TARGET, 'tls_error', 'the TLS handshake failed'],
  CERT_HAS_EXPIRED: [TARGET, 'tls_error', CERTIFICATE_EXPIRED],
  CERT_NOT_YET_VALID: [TARGET, 'tls_error', CERTIFICATE_NOT_YET_VALID],
  CERT_REVOKED: [TARGET, 'tls_error', 'the certificate was revoked'],
  DEPTH_ZERO_SELF_SIGNED_CERT: [TARGET, 'tls_error', 'the certificate is self-signed'],
  SELF_SIGNED_CERT_IN_CHAIN: [TARGET, 'tls_error', 'the certificate chain ends in an authority that is not trusted'],
  UNABLE_TO_GET_ISSUER_CERT: [TARGET, 'tls_error', 'the certificate chain is incomplete'],
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: [TARGET, 'tls_error', 'the certificate chain is incomplete or not trusted'],
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: [TARGET, 'tls_error', 'the certificate chain is incomplete or not trusted'],
  ERR_TLS_CERT_ALTNAME_INVALID: [TARGET, 'tls_error', 'the certificate is for another host'],
  ENOTFOUND: [TARGET, 'dns_not_found', 'the name does not exist'],
  ENODATA: [TARGET, 'dns_not_found', 'the name has no address'],
  EBADNAME: [TARGET, 'dns_not_found', 'the name is not valid'],
  HPE_HEADER_OVERFLOW: [TARGET, 'invalid_response', 'the response headers are too large'],
  ENETUNREACH: [INTERNAL, 'network_unreachable', 'the probe has no route to this address'],
  ENETDOWN: [INTERNAL, 'network_unreachable', 'the network of the probe is down'],
  EAFNOSUPPORT: [INTERNAL, 'network_unreachable', 'the probe does not support this version of IP'],
  EADDRNOTAVAIL: [INTERNAL, 'local_resources', 'the probe has no free local port or address'],
  EMFILE: [INTERNAL, 'local_resources', 'the probe has no free file descriptor'],
  ENFILE: [INTERNAL, 'local_resources', 'the probe has no free file descriptor'],
  ENOMEM: [INTERNAL, 'local_resources', 'the probe is out of memory'],
  EAGAIN: [INTERNAL, 'local_resources', 'the send buffer of the probe is full'],
  ENOBUFS: [INTERNAL, 'local_resources', 'the probe is out of memory'],
  EACCES: [INTERNAL, 'local_firewall', 'a firewall on the probe refuses this connection'],
  EPERM: [INTERNAL, 'local_firewall', 'a firewall on the probe refuses this connection'],
}

/** Converts any error of a request. An unknown error is attributed to the probe, never to the target. */
export function toEgressFailure(error: unknown): EgressFailure {
  if (error instanceof EgressFailure) return error
  const { code = '', message = String(error), reason } = error as { code?: string; message?: string; reason?: string }
  const known = KNOWN[code]
  if (known) return new EgressFailure(known[0], known[1], known[2])
  if (code.startsWith('HPE_')) {
    return createTargetFailure('invalid_response', `the response is not valid HTTP: ${reason ?? message}`)
  }
  if (code.startsWith('ERR_SSL_') || code.startsWith('ERR_TLS_')) {
    return createTargetFailure('tls_error', `the TLS handshake failed: ${reason ?? message}`)
  }
  return createInternalFailure('internal_error', message)
}

/** What ICMPv6 of a router or of the target's firewall becomes; for a local route, the same codes come before anything is sent. */
const REFUSED_BY_NETWORK = new Set(['EACCES', 'ENETUNREACH'])

/** As `toEgressFailure`, for an error after the kernel of the probe has accepted to send: it was reported by the network. */
export function toNetworkFailure(error: unknown): EgressFailure {
  const { code = '' } = error as { code?: string }
  return toEgressFailure(REFUSED_BY_NETWORK.has(code) ? { code: 'EHOSTUNREACH' } : error)
}

/** Which of two failures at different addresses is reported: the first that is the target's, else the first. */
export const pickFailure = (first: EgressFailure | null, next: EgressFailure): EgressFailure =>
  first === null || (first.source !== TARGET && next.source === TARGET) ? next : first

/** Converts error codes of c-ares. A name that does not exist is the target's fault; other errors are the resolver's. */
export function toResolverFailure(code: string): EgressFailure {
  const known = KNOWN[code]
  if (known?.[1] === 'dns_not_found') return new EgressFailure(known[0], known[1], known[2])
  if (code === 'ETIMEOUT') return new EgressFailure(RESOLVER, 'dns_timeout', 'the resolver does not respond')
  if (code === 'ECONNREFUSED') return new EgressFailure(RESOLVER, 'dns_failed', RESOLVER_UNREACHABLE)
  return new EgressFailure(RESOLVER, 'dns_failed', `the resolver could not answer (${code})`)
}

/** Converts OpenSSL's verification error (`socket.authorizationError`). */
export function toTlsFailure(code: string, detail: string): EgressFailure {
  const known = KNOWN[code]
  if (known?.[1] === 'tls_error') return new EgressFailure(known[0], known[1], known[2])
  return createTargetFailure('tls_error', `the certificate is not trusted: ${detail}`)
}

export function toCheckError({ source, code, message }: EgressFailure): CheckError {
  return { source, code, message }
}
