import { Type } from 'typebox'
import type { CheckLiteral } from '../../alerting/channels/types.ts'
import type { Clickhouse } from '../../foundation/platform/clickhouse.ts'
import { isId } from '../../foundation/platform/ids.ts'
import type { Db } from '../../foundation/platform/postgres/client.ts'
import { getCaller } from '../../foundation/web/auth/authentication.ts'
import type { App } from '../../foundation/web/server/app.ts'
import { found } from '../../foundation/web/server/errors.ts'
import { dataSchema, IdParams, nullable, responseSchemas } from '../../foundation/web/validation/schemas.ts'
import { assertImageUrl } from '../admin/image-actions.ts'
import { applyUpdate } from '../admin/page-actions.ts'
import { PageUpdate } from '../admin/schema.ts'
import { sanitizeProjectCss } from '../core/custom-css/css-actions.ts'
import { findPage } from '../core/page-store.ts'
import { createPreviewReader } from './view/view-reader.ts'

const CssProblemRecord = Type.Object(
  {
    path: Type.Literal('custom_css'),
    line: Type.Integer({ minimum: 1 }),
    column: Type.Integer({ minimum: 1 }),
    message: Type.String(),
  },
  { title: 'StatusPageCssProblem' },
)

const PreviewRecord = Type.Object(
  {
    view: Type.Record(Type.String(), Type.Unknown(), {
      description:
        'Everything that the page shows, as the templates of this version render it. Its properties can change with every version.',
    }),
    safe_css: nullable(
      Type.String({
        description: 'The custom CSS as the page would contain it; null without CSS, and when it is refused.',
      }),
    ),
    problems: Type.Array(CssProblemRecord, {
      description: 'Why the custom CSS is refused: at most 20 lines, in their order, each with its first problem.',
    }),
  },
  { title: 'StatusPagePreview' },
)

type PreviewContext = { db: Db; clickhouse: Clickhouse; publicUrl: string; checkLiteral: CheckLiteral }

/** What visitors would see with settings that are not stored (docs/design/status-pages.md#preview). */
export function pagePreviewRoutes(app: App, context: PreviewContext): void {
  const readPreview = createPreviewReader(context)
  app.post(
    '/status-pages/:id/preview',
    {
      config: { scope: 'read' },
      schema: {
        summary: 'Preview a status page',
        description:
          'Returns what visitors would see with the given settings, also for an unpublished page. Omitted fields have their stored values. Stores nothing and fetches no image. Refused CSS is not an error: the problems name its lines.',
        tags: ['Status pages'],
        params: IdParams,
        body: PageUpdate,
        response: responseSchemas(200, dataSchema(PreviewRecord), 400, 403, 404, 429, 503),
      },
    },
    async request => {
      const { projectId } = getCaller(request)
      const { id } = request.params
      const stored = found(isId(id) && (await findPage(context.db, projectId, id)), 'status page')
      for (const field of ['logo_url', 'favicon_url'] as const) {
        const url = request.body[field]
        if (url) assertImageUrl(context.checkLiteral, field, url)
      }
      const page = applyUpdate(stored, request.body)
      const judged = page.customCss ? await sanitizeProjectCss(projectId, page.customCss) : null
      const safeCss = judged && 'css' in judged ? judged.css : null
      const problems = judged && 'problems' in judged ? judged.problems : []
      return {
        data: {
          view: await readPreview(page, safeCss),
          safe_css: safeCss,
          problems: problems.map(problem => ({ path: 'custom_css' as const, ...problem })),
        },
      }
    },
  )
}
