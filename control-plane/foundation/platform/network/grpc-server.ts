import { createSecureContext } from 'node:tls'
import {
  logVerbosity,
  Server,
  ServerCredentials,
  type ServerInterceptingCall,
  type ServerInterceptor,
  type ServiceDefinition,
  setLogVerbosity,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js'
import { ConfigError } from '../../../../shared/process/env.ts'
import { addGrpcHealth } from './grpc-health.ts'
import { type LimitedPort, openLimitedPort, type PortLimits, type PortRefusal } from './limited-port.ts'

// the library would print the errors that it throws
setLogVerbosity(logVerbosity.NONE)

type GrpcServer = {
  port: number
  /** Reports NOT_SERVING, accepts no new calls and waits for running calls, at most `timeoutMs`. */
  stop(timeoutMs: number): Promise<void>
}

/** PEM. With `clientCa`, clients need a certificate that it signed. */
export type GrpcTls = { cert: Buffer; key: Buffer; clientCa: Buffer | null }

type GrpcServerOptions = {
  host: string
  /** 0: any free port */
  port: number
  /** null: plain text */
  tls: GrpcTls | null
  service: ServiceDefinition
  implementation: UntypedServiceImplementation
  /** below `proto/`, for reflection */
  protoFile: string
  /** any client may list the services */
  reflection: boolean
  limits: PortLimits
  /** a connection was closed because of the limits */
  onRefused: (why: PortRefusal) => void
}

/** A connection without calls is closed after this time. */
const IDLE_TIMEOUT_MS = 60_000

/**
 * A gRPC server with one service, the health service and, optionally, reflection. Throws a ConfigError when the port is
 * in use.
 */
export async function startGrpcServer(options: GrpcServerOptions): Promise<GrpcServer> {
  let port: LimitedPort | null = null
  // records calls and does not change them
  const noteCalls: ServerInterceptor = (_method, call) => {
    port?.noteCall(call.getPeer())
    return call as ServerInterceptingCall
  }
  const server = new Server({
    interceptors: [noteCalls],
    'grpc.max_connection_idle_ms': IDLE_TIMEOUT_MS,
    // detects a vanished peer by the connection, in addition to the heartbeats of the service
    'grpc.keepalive_time_ms': 10_000,
    'grpc.keepalive_timeout_ms': 5_000,
    'grpc.keepalive_permit_without_calls': 1,
    'grpc.max_receive_message_length': 1024 * 1024,
    'grpc.max_concurrent_streams': 16,
  })
  server.addService(options.service, options.implementation)

  if (options.reflection) {
    // loaded only here, because loading its packages takes more than 50 ms of processor time
    const { addReflection } = await import('./grpc-reflection.ts')
    await addReflection(server, options.protoFile)
  }
  const health = addGrpcHealth(server, ['', ...listServiceNames(options.service)])

  const address = `${options.host}:${options.port}`
  const injector = server.createConnectionInjector(createCredentials(options.tls))
  const take = injector.injectConnection.bind(injector)
  const opened = await openLimitedPort(options, options.limits, take, options.onRefused).catch((error: Error) => {
    server.forceShutdown()
    throw new ConfigError(formatListenError(address, error.message))
  })
  port = opened
  return {
    port: opened.port,
    async stop(timeoutMs) {
      opened.close()
      health.stopServing()
      const timer = setTimeout(() => server.forceShutdown(), timeoutMs)
      await new Promise<void>(resolve => server.tryShutdown(() => resolve()))
      clearTimeout(timer)
    },
  }
}

/** The full names, from the paths of the methods: `/picket.probe.v1.Fleet/Connect`. */
const listServiceNames = (service: ServiceDefinition): string[] => [
  ...new Set(Object.values(service).map(({ path }) => path.split('/')[1]!)),
]

function createCredentials(tls: GrpcTls | null): ServerCredentials {
  if (tls === null) return ServerCredentials.createInsecure()
  const pair = { cert_chain: tls.cert, private_key: tls.key }
  try {
    // throws for files that OpenSSL cannot read, before the port is opened
    createSecureContext({ cert: tls.cert, key: tls.key, ca: tls.clientCa ?? undefined })
    return ServerCredentials.createSsl(tls.clientCa, [pair], tls.clientCa !== null)
  } catch (error) {
    throw new ConfigError(`GRPC_TLS_CERT and GRPC_TLS_KEY cannot be used: ${(error as Error).message}`)
  }
}

const formatListenError = (address: string, reason: string) =>
  reason.includes('EADDRINUSE')
    ? `${address} is already in use; choose another port for probes with GRPC_PORT`
    : `cannot listen for probes on ${address}: ${reason}`
