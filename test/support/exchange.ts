import { channelRoutes } from '../../control-plane/alerting/routing/alert-channels/routes.ts'
import { ruleRoutes } from '../../control-plane/alerting/routing/rules/rule-routes.ts'
import { subscriptionRoutes } from '../../control-plane/alerting/routing/rules/subscription-routes.ts'
import { settingsRoutes } from '../../control-plane/alerting/routing/settings-routes.ts'
import type { App } from '../../control-plane/foundation/web/server/app.ts'
import { sourceRoutes } from '../../control-plane/integrations/data-sources/api/source-routes.ts'
import { importExportRoutes } from '../../control-plane/integrations/import-export/routes.ts'
import { dependencyRoutes } from '../../control-plane/integrations/vendors/dependencies/dependency-routes.ts'
import { parentRoutes } from '../../control-plane/monitoring/monitors/parents/routes.ts'
import { monitorRoutes } from '../../control-plane/monitoring/monitors/routes.ts'
import { componentRoutes } from '../../control-plane/pages/admin/components/component-routes.ts'
import { groupRoutes } from '../../control-plane/pages/admin/components/group-routes.ts'
import { statusPageRoutes } from '../../control-plane/pages/admin/page-routes.ts'
import { monitorLifecycleRoutes } from '../../control-plane/verdict/core/monitor-lifecycle-routes.ts'
import { maintenanceRoutes } from '../../control-plane/verdict/maintenance/routes.ts'
import { scheduleReview } from '../../control-plane/verdict/suppression/store.ts'
import type { Account, ApiAnswer, Handles } from './resource-api.ts'
import { NO_HISTORY } from './unwatched.ts'

/** Registers the routes of all resources of a file, and of import and export. */
export function exchangeApi(app: App, handles: Handles): void {
  channelRoutes(app, handles)
  ruleRoutes(app, handles)
  settingsRoutes(app, handles)
  subscriptionRoutes(app, handles)
  monitorRoutes(app, { ...handles, readMonitoringState: NO_HISTORY })
  monitorLifecycleRoutes(app, { ...handles, watching: NO_HISTORY })
  parentRoutes(app, { ...handles, review: scheduleReview })
  maintenanceRoutes(app, { ...handles, review: scheduleReview })
  statusPageRoutes(app, handles)
  componentRoutes(app, handles)
  groupRoutes(app, handles)
  sourceRoutes(app, handles)
  dependencyRoutes(app, { ...handles, testsPerMinute: 60 })
  importExportRoutes(app, { ...handles, review: scheduleReview })
}

// biome-ignore lint/suspicious/noExplicitAny: files of any shape
type File = any

export const exported = async ({ call }: Account): Promise<File> => (await call('GET /export?format=json')).body

export const plan = ({ call }: Account, file: unknown, options = ''): Promise<ApiAnswer> =>
  call(`POST /import?dry_run=true${options}`, file)

export const apply = ({ call }: Account, file: unknown, options = ''): Promise<ApiAnswer> =>
  call(`POST /import?dry_run=false${options}`, file)

/** Formats each change as `create monitor Shop`. */
export const listChanges = ({ body }: ApiAnswer): string[] =>
  body.data.changes.map(({ action, resource, key }: File) => `${action} ${resource} ${key}`)

/** Removes ids and slugs, which differ between projects, from a file. */
export function withoutIds(file: File): File {
  if (Array.isArray(file)) return file.map(withoutIds)
  if (typeof file !== 'object' || file === null) return file
  return Object.fromEntries(
    Object.entries(file)
      .filter(([key]) => key !== 'id')
      .map(([key, value]) => [key, key === 'slug' ? '' : withoutIds(value)]),
  )
}
