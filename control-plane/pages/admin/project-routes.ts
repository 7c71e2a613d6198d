import { type Static, Type } from 'typebox'
import {
  COUNTED_RESOURCES,
  type CountedApiName,
  type InstallationLimits,
  PLAN_LIMITS,
  PLANS,
  toApiName,
} from '../../accounts/plans/plans.ts'
import { findProject, readUsage } from '../../accounts/plans/store.ts'
import type { Db } from '../../foundation/platform/postgres/client.ts'
import { getCaller } from '../../foundation/web/auth/authentication.ts'
import type { App } from '../../foundation/web/server/app.ts'
import { notFound } from '../../foundation/web/server/errors.ts'
import {
  dataSchema,
  Id,
  nullable,
  responseSchemas,
  stringEnum,
  Timestamp,
} from '../../foundation/web/validation/schemas.ts'
import { listProjectPages } from '../core/page-store.ts'
import { buildPublicUrl } from '../core/public-url.ts'
import { buildEmbedLinks, buildSnippets } from './embed-snippets.ts'

const LimitUsage = Type.Object({ limit: nullable(Type.Integer()), used: Type.Integer() })
const Text = nullable(Type.String())

const Project = Type.Object(
  {
    id: Id,
    name: Type.String(),
    plan: stringEnum(PLANS),
    limits: Type.Object({
      monitors: LimitUsage,
      status_pages: LimitUsage,
      data_sources: LimitUsage,
      alert_channels: LimitUsage,
      alert_subscriptions: LimitUsage,
      api_keys: LimitUsage,
      maintenance_windows: LimitUsage,
      open_incidents: LimitUsage,
      subscribers: LimitUsage,
      rules_per_monitor: Type.Integer(),
      channels_per_host: Type.Integer(),
      members: LimitUsage,
      custom_domain: Type.Boolean(),
      min_interval_seconds: Type.Integer(),
    }),
    embeds: Type.Object({
      links: Type.Object({ status_page: Text, badge: Text, widget: Text }),
      snippets: Type.Object({ badge_markdown: Text, badge_html: Text, widget_html: Text, curl: Type.String() }),
    }),
    status_pages: Type.Array(
      Type.Object({
        id: Id,
        name: Type.String(),
        slug: Type.String(),
        is_published: Type.Boolean(),
        public_url: Type.String(),
      }),
    ),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'Project' },
)

type ProjectContext = { db: Db; publicUrl: string; limits: InstallationLimits }

/** `GET /project` (docs/design/status-pages.md#project). The embed links are those of the oldest published page. */
export function projectRoutes(app: App, { db, publicUrl, limits: installationLimits }: ProjectContext): void {
  app.get(
    '/project',
    {
      schema: {
        tags: ['Accounts'],
        summary: 'Get the project of the API key',
        response: responseSchemas(200, dataSchema(Project)),
      },
    },
    async request => {
      const { projectId, organizationId } = getCaller(request)
      const [project, pages, limits] = await Promise.all([
        findProject(db, projectId),
        listProjectPages(db, projectId),
        loadLimits(db, organizationId, installationLimits),
      ])
      if (!project) throw notFound('project')
      const published = pages.find(page => page.isPublished)
      const links = buildEmbedLinks(published ? buildPublicUrl(published, publicUrl) : null)
      const { customDomain, minIntervalSeconds } = PLAN_LIMITS[project.plan]
      return {
        data: {
          ...project,
          limits: { ...limits, custom_domain: customDomain, min_interval_seconds: minIntervalSeconds },
          embeds: { links, snippets: buildSnippets(publicUrl, links) },
          status_pages: pages.map(page => ({
            id: page.id,
            name: page.name,
            slug: page.slug,
            is_published: page.isPublished,
            public_url: buildPublicUrl(page, publicUrl),
          })),
        },
      }
    },
  )
}

async function loadLimits(db: Db, organizationId: string, limits: InstallationLimits) {
  const entries = COUNTED_RESOURCES.map(async counted => {
    const { limit, used } = await readUsage(db, organizationId, counted, limits)
    return [toApiName(counted), { limit, used }] as const
  })
  const usage = Object.fromEntries(await Promise.all(entries)) as Record<CountedApiName, Static<typeof LimitUsage>>
  return { ...usage, rules_per_monitor: limits.rulesPerMonitor, channels_per_host: limits.channelsPerHost }
}
