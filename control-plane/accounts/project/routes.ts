import { Type } from 'typebox'
import type { Db } from '../../platform/postgres.ts'
import type { App } from '../../web/app.ts'
import { callerOf } from '../../web/auth.ts'
import { notFound } from '../../web/errors.ts'
import { answers, dataOf, enumOf, Id, nullable, Timestamp } from '../../web/schemas.ts'
import { type Counted, PLAN_LIMITS, PLANS } from '../plans.ts'
import { readUsage } from '../store.ts'
import { snippetsOf } from './snippets.ts'
import { findProject } from './store.ts'

const LimitAndUse = Type.Object({ limit: nullable(Type.Integer()), used: Type.Integer() })
const Text = nullable(Type.String())

const Project = Type.Object({
  id: Id,
  name: Type.String(),
  plan: enumOf(PLANS),
  limits: Type.Object({
    monitors: LimitAndUse,
    status_pages: LimitAndUse,
    data_sources: LimitAndUse,
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
})

/** `GET /project` (decisions 2.6). There are no status pages yet, so the links to them are null. */
export function projectRoutes(app: App, { db, publicUrl }: { db: Db; publicUrl: string }): void {
  app.get(
    '/project',
    { schema: { tags: ['Accounts'], summary: 'The project of the key', response: answers(200, dataOf(Project)) } },
    async request => {
      const { projectId, organizationId } = callerOf(request)
      const project = await findProject(db, projectId)
      if (!project) throw notFound('project')
      const links = { status_page: null, badge: null, widget: null }
      const { customDomain, minIntervalSeconds } = PLAN_LIMITS[project.plan]
      const used = async (counted: Counted) => {
        const usage = await readUsage(db, organizationId, counted)
        return { limit: usage.limit, used: usage.used }
      }
      return {
        data: {
          ...project,
          limits: {
            monitors: await used('monitors'),
            status_pages: await used('statusPages'),
            data_sources: await used('dataSources'),
            members: await used('members'),
            custom_domain: customDomain,
            min_interval_seconds: minIntervalSeconds,
          },
          embeds: { links, snippets: snippetsOf(publicUrl, links) },
          status_pages: [],
        },
      }
    },
  )
}
