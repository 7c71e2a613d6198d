import { apiKeyRoutes } from './accounts/api-keys/routes.ts'
import { bootstrapRoutes } from './accounts/bootstrap/routes.ts'
import { projectRoutes } from './accounts/project/routes.ts'
import { startAccountsWorker } from './accounts/worker.ts'
import { startRecorder } from './analytics/recorder.ts'
import { startHourlyWorker } from './analytics/worker.ts'
import type { Role } from './config.ts'
import { deliveryRoutes } from './deliveries/routes.ts'
import { startDeliveryWorker } from './deliveries/worker.ts'
import { incidentRoutes } from './incidents/routes.ts'
import { monitorRoutes } from './monitors/routes.ts'
import type { Handles } from './start.ts'
import type { App } from './web/app.ts'

/** Something that runs until it is stopped, and what it wants to hear of. */
export type Part = {
  stop(): Promise<unknown>
  /** called on each NOTIFY of the channel and after each reconnect to PostgreSQL */
  onNotify?: Record<string, () => void>
  grpcPort?: number
}

/** The routes of every room, below /api/v1: the role `api`. */
export function apiRoutes(app: App, handles: Handles): void {
  const { db, secrets, egress } = handles
  const { publicUrl, defaultPlan } = handles.config
  bootstrapRoutes(app, { db, publicUrl, defaultPlan })
  apiKeyRoutes(app, { db })
  projectRoutes(app, { db, publicUrl })
  deliveryRoutes(app, { db })
  monitorRoutes(app, { db, secrets, checkLiteral: egress.checkLiteral, lastCheckedAt: async () => new Map() })
  incidentRoutes(app, { db })
}

/** What each role runs beside the HTTP server; `api` is the routes above. */
export const STARTERS: Record<Role, ((handles: Handles) => Part | Promise<Part>)[]> = {
  api: [],
  fleet: [],
  verdict: [],
  record: [startRecorder, startHourlyWorker],
  deliver: [startDeliveries],
  schedule: [startAccountsWorker],
}

function startDeliveries(handles: Handles): Part {
  const worker = startDeliveryWorker(handles)
  return { stop: worker.stop, onNotify: { deliveries: worker.wake } }
}
