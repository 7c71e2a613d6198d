import { type ServerWritableStream, status } from '@grpc/grpc-js'
import {
  type HealthCheckRequest,
  type HealthCheckResponse,
  type HealthServer,
  HealthCheckResponse_ServingStatus as ServingStatus,
} from '../../../../proto/gen/grpc/health/v1/health.ts'

type Watcher = ServerWritableStream<HealthCheckRequest, HealthCheckResponse>

/**
 * The health service of gRPC for a server with these services; the empty name is the whole server. All are SERVING until
 * `stopServing`. Written here because the package `grpc-health-check` parses its messages at each start, which takes 50 ms.
 */
export function createGrpcHealth(names: readonly string[]): { implementation: HealthServer; stopServing(): void } {
  const watchers = new Set<Watcher>()
  let current = ServingStatus.SERVING
  const find = (service: string) => (names.includes(service) ? { status: current } : null)
  return {
    implementation: {
      check({ request: { service } }, callback) {
        const found = find(service)
        if (found) callback(null, found)
        else callback({ code: status.NOT_FOUND, details: `Health status unknown for service ${service}` })
      },
      watch(call) {
        watchers.add(call)
        call.on('cancelled', () => watchers.delete(call))
        call.write(find(call.request.service) ?? { status: ServingStatus.SERVICE_UNKNOWN })
      },
      list(_call, callback) {
        callback(null, { statuses: Object.fromEntries(names.map(name => [name, { status: current }])) })
      },
    },
    stopServing() {
      current = ServingStatus.NOT_SERVING
      for (const call of watchers) {
        const found = find(call.request.service)
        if (found) call.write(found)
      }
    },
  }
}
