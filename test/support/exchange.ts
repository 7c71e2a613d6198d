import { channelRoutes } from '../../control-plane/alerts/channel-routes.ts'
import { ruleRoutes } from '../../control-plane/alerts/rule-routes.ts'
import { settingsRoutes } from '../../control-plane/alerts/settings-routes.ts'
import { subscriptionRoutes } from '../../control-plane/alerts/subscription-routes.ts'
import { sourceRoutes } from '../../control-plane/data-sources/routes.ts'
import { exchangeRoutes } from '../../control-plane/exchange/routes.ts'
import { maintenanceRoutes } from '../../control-plane/maintenance/routes.ts'
import { parentRoutes } from '../../control-plane/monitors/parent-routes.ts'
import { monitorRoutes } from '../../control-plane/monitors/routes.ts'
import { lookSoon } from '../../control-plane/silences/store.ts'
import { componentRoutes } from '../../control-plane/status-pages/component-routes.ts'
import { groupRoutes } from '../../control-plane/status-pages/group-routes.ts'
import { statusPageRoutes } from '../../control-plane/status-pages/routes.ts'
import { dependencyRoutes } from '../../control-plane/vendors/routes.ts'
import { verdictRoutes } from '../../control-plane/verdict/routes.ts'
import type { App } from '../../control-plane/web/app.ts'
import type { Account, ApiAnswer, Handles } from './resource-api.ts'
import { unwatched } from './unwatched.ts'

/** Everything that a file can hold, and what imports and exports it. */
export function exchangeApi(app: App, handles: Handles): void {
  channelRoutes(app, handles)
  ruleRoutes(app, handles)
  settingsRoutes(app, handles)
  subscriptionRoutes(app, handles)
  monitorRoutes(app, { ...handles, watching: unwatched })
  verdictRoutes(app, { ...handles, watching: unwatched })
  parentRoutes(app, { ...handles, review: lookSoon })
  maintenanceRoutes(app, { ...handles, review: lookSoon })
  statusPageRoutes(app, handles)
  componentRoutes(app, handles)
  groupRoutes(app, handles)
  sourceRoutes(app, handles)
  dependencyRoutes(app, handles)
  exchangeRoutes(app, { ...handles, review: lookSoon })
}

// biome-ignore lint/suspicious/noExplicitAny: files of any shape
export type File = any

export const exported = async ({ call }: Account): Promise<File> => (await call('GET /export?format=json')).body

export const plan = ({ call }: Account, file: unknown, options = ''): Promise<ApiAnswer> =>
  call(`POST /import?dry_run=true${options}`, file)

export const apply = ({ call }: Account, file: unknown, options = ''): Promise<ApiAnswer> =>
  call(`POST /import?dry_run=false${options}`, file)

/** `create monitor Shop`, for each change. */
export const changesOf = ({ body }: ApiAnswer): string[] =>
  body.data.changes.map(({ action, resource, key }: File) => `${action} ${resource} ${key}`)

/** A file without ids, and with another slug: a page's address is its own. */
export function withoutIds(file: File): File {
  if (Array.isArray(file)) return file.map(withoutIds)
  if (typeof file !== 'object' || file === null) return file
  return Object.fromEntries(
    Object.entries(file)
      .filter(([key]) => key !== 'id')
      .map(([key, value]) => [key, key === 'slug' ? '' : withoutIds(value)]),
  )
}
