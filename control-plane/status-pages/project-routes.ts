import { type Static, Type } from 'typebox'
import { type ApiName, apiNameOf, COUNTED, type Limits, PLAN_LIMITS, PLANS } from '../accounts/plans.ts'
import { findProject, readUsage } from '../accounts/store.ts'
import type { Db } from '../platform/postgres.ts'
import type { App } from '../web/app.ts'
import { callerOf } from '../web/auth.ts'
import { notFound } from '../web/errors.ts'
import { answers, dataOf, enumOf, Id, nullable, Timestamp } from '../web/schemas.ts'
import { publicUrlOf } from './public-url.ts'
import { linksOf, snippetsOf } from './snippets.ts'
import { pagesOfProject } from './store.ts'

const LimitAndUse = Type.Object({ limit: nullable(Type.Integer()), used: Type.Integer() })
const Text = nullable(Type.String())

const Project = Type.Object(
  {
    id: Id,
    name: Type.String(),
    plan: enumOf(PLANS),
    limits: Type.Object({
      monitors: LimitAndUse,
      status_pages: LimitAndUse,
      data_sources: LimitAndUse,
      alert_channels: LimitAndUse,
      alert_subscriptions: LimitAndUse,
      api_keys: LimitAndUse,
      maintenance_windows: LimitAndUse,
      open_incidents: LimitAndUse,
      subscribers: LimitAndUse,
      rules_per_monitor: Type.Integer(),
      channels_per_host: Type.Integer(),
      members: LimitAndUse,
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

type ProjectContext = { db: Db; publicUrl: string; limits: Limits }

/** `GET /project` (decisions 2.6). Its links lead to the oldest page that is published. */
export function projectRoutes(app: App, { db, publicUrl, limits: allowed }: ProjectContext): void {
  app.get(
    '/project',
    { schema: { tags: ['Accounts'], summary: 'The project of the key', response: answers(200, dataOf(Project)) } },
    async request => {
      const { projectId, organizationId } = callerOf(request)
      const [project, pages, limits] = await Promise.all([
        findProject(db, projectId),
        pagesOfProject(db, projectId),
        limitsOf(db, organizationId, allowed),
      ])
      if (!project) throw notFound('project')
      const shown = pages.find(page => page.isPublished)
      const links = linksOf(shown ? publicUrlOf(shown, publicUrl) : null)
      const { customDomain, minIntervalSeconds } = PLAN_LIMITS[project.plan]
      return {
        data: {
          ...project,
          limits: { ...limits, custom_domain: customDomain, min_interval_seconds: minIntervalSeconds },
          embeds: { links, snippets: snippetsOf(publicUrl, links) },
          status_pages: pages.map(page => ({
            id: page.id,
            name: page.name,
            slug: page.slug,
            is_published: page.isPublished,
            public_url: publicUrlOf(page, publicUrl),
          })),
        },
      }
    },
  )
}

async function limitsOf(db: Db, organizationId: string, limits: Limits) {
  const entries = COUNTED.map(async counted => {
    const { limit, used } = await readUsage(db, organizationId, counted, limits)
    return [apiNameOf(counted), { limit, used }] as const
  })
  const uses = Object.fromEntries(await Promise.all(entries)) as Record<ApiName, Static<typeof LimitAndUse>>
  return { ...uses, rules_per_monitor: limits.rulesPerMonitor, channels_per_host: limits.channelsPerHost }
}
