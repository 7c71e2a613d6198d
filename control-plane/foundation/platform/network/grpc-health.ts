import { type Server, type ServerWritableStream, status as statuses } from '@grpc/grpc-js'
import {
  type HealthCheckRequest,
  type HealthCheckResponse,
  type HealthServer,
  HealthService,
  HealthCheckResponse_ServingStatus as Status,
} from '../../../../proto/gen/grpc/health/v1/health.ts'

type Watcher = ServerWritableStream<HealthCheckRequest, HealthCheckResponse>

/**
 * Adds the health service of gRPC, which reports that these services are serving until `stopServing`. It is generated from
 * `proto/`, because the package `grpc-health-check` takes 80 ms of processor time at each start to read its definition.
 */
export function addGrpcHealth(server: Server, services: string[]): { stopServing(): void } {
  let status = Status.SERVING
  const watchers = new Set<Watcher>()
  const implementation: HealthServer = {
    check: ({ request }, answer) => {
      if (services.includes(request.service)) answer(null, { status })
      else answer({ code: statuses.NOT_FOUND, details: `Health status unknown for service ${request.service}` })
    },
    watch: call => {
      if (!services.includes(call.request.service)) return void call.write({ status: Status.SERVICE_UNKNOWN })
      watchers.add(call)
      call.once('cancelled', () => watchers.delete(call))
      call.write({ status })
    },
    list: (_call, answer) => answer(null, { statuses: Object.fromEntries(services.map(name => [name, { status }])) }),
  }
  server.addService(HealthService, implementation)
  return {
    stopServing() {
      status = Status.NOT_SERVING
      for (const watcher of watchers) watcher.write({ status })
    },
  }
}
