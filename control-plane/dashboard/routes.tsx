import type { FastifyReply, FastifyRequest } from 'fastify'
import { nowMs as clockMs } from '../foundation/platform/time/clock.ts'
import { isBearer } from '../foundation/web/auth/authentication.ts'
import { sendErrorPage } from '../foundation/web/html/forms.ts'
import { type PreparedDocument, prepareDocument } from '../foundation/web/html/prepared-document.ts'
import { sendDocument } from '../foundation/web/html/send-document.ts'
import { type App, buildWrongBaseError } from '../foundation/web/server/app.ts'
import { notFound, unavailable } from '../foundation/web/server/errors.ts'
import { addScope } from '../foundation/web/server/scope.ts'
import { ASSETS } from './assets.ts'
import { type FrameContext, FrameProvider, type Me, STATIC_TOOLS } from './core/frame-context.ts'
import { countUnalerted, FRAME_READS } from './core/frame-reads.ts'
import { PREVIEW_FRAME_PATH, WIDGET_FRAME_PATH } from './core/navigation.ts'
import { read } from './core/operations.ts'
import type { DocumentState } from './core/page-state.ts'
import { loadScreen, type Queries, type Results, type ScreenEntry, type ScreenLocation } from './core/screen.ts'
import { DASHBOARD_CSP, renderPage } from './document.tsx'
import { formRoutes } from './form-routes.ts'
import { createLoadBoard, createSessionExecute, type LoadBoard, loadResults } from './load-actions.ts'
import { Frame } from './parts/layout/frame.tsx'
import { buildTitle, ScreenContent, type ShownScreen } from './parts/layout/screen-content.tsx'
import { SCREENS } from './screens/index.ts'
import { renderWidgetFrame, WIDGET_CSP } from './screens/pages/reach/widget-frame.ts'

type DashboardTools = {
  publicUrl: string
  isOwnHost(host: string): boolean
  /** identifies the program to open pages */
  build: string
}

/** The pages of the dashboard and the files that they load (docs/design/dashboard.md). */
export function dashboardRoutes(app: App, { publicUrl, isOwnHost, build }: DashboardTools): void {
  // before the body is read: an API client with a wrong base address sends JSON
  app.addHook('onRequest', async request => {
    // no dashboard on a customer's domain
    if (!isOwnHost(request.host)) throw notFound('page')
    if (isBearer(request.headers.authorization)) throw buildWrongBaseError(request, publicUrl)
  })
  app.setErrorHandler(sendErrorPage)
  const tools = { app, build, loadBoard: createLoadBoard(app) }
  for (const entry of SCREENS) app.get(entry.path, (request, reply) => sendScreen(tools, entry, request, reply))
  assetRoutes(app)
  addScope(app, scope => formRoutes(scope, { publicUrl }))
}

type ScreenTools = { app: App; build: string; loadBoard: LoadBoard }

async function sendScreen(
  { app, build, loadBoard }: ScreenTools,
  entry: ScreenEntry,
  request: FastifyRequest,
  reply: FastifyReply,
) {
  const screen = await loadScreen(entry)
  const nowMs = clockMs()
  const execute = createSessionExecute(app, request)
  const location: ScreenLocation = {
    params: request.params as Record<string, string>,
    search: new URLSearchParams(request.url.split('?')[1]),
  }
  // first, so that a request without a session costs one read
  const { me } = await loadResults(execute, { me: read('readMe', {}) }, nowMs)
  if (me!.error?.status === 401) return reply.redirect(buildSignInPath(request), 303)
  if (me!.error?.status === 403) return reply.redirect('/account', 303)
  if (me!.data === null) throw unavailable('your session cannot be read at the moment; try again shortly')
  const { data: person } = me!.data as { data: Me }
  const [results, board] = await Promise.all([
    loadResults(execute, { ...screen.queries(location, nowMs, person), ...FRAME_READS }, nowMs),
    loadBoard(request, screen.board?.(location), nowMs),
  ])
  const shown: ShownScreen = { screen, location, results: results as Results<Queries>, board }
  const page = renderScreen(shown, person, nowMs, build)
  const error = screen.record ? shown.results[screen.record]?.error : null
  return reply
    .code(error?.status === 404 ? 404 : error ? 503 : 200)
    .headers({
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': DASHBOARD_CSP,
      'cache-control': 'no-store',
      'referrer-policy': 'same-origin',
    })
    .send(page)
}

const buildSignInPath = ({ url }: FastifyRequest) => `/sign-in?${new URLSearchParams({ return_to: url })}`

function renderScreen(shown: ShownScreen, me: Me, nowMs: number, build: string): string {
  const state: DocumentState = { me, results: shown.results, board: shown.board, nowMs, build }
  const context: FrameContext = {
    ...{ me, nowMs, timeZone: me.preferences?.time_zone ?? 'UTC', isInteractive: false },
    execute: async () => {
      throw new Error('a page does not carry out operations while it is rendered')
    },
    ...STATIC_TOOLS,
  }
  const content = (
    <FrameProvider value={context}>
      <Frame area={shown.screen.area} notice={null} unalerted={countUnalerted(shown.screen, shown.results)}>
        <ScreenContent {...shown} />
      </Frame>
    </FrameProvider>
  )
  return renderPage(buildTitle(shown), content, state)
}

/** The document in which the page editor renders its preview: nothing runs in it, and it shows images of this origin only. */
const PREVIEW_CSP = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'; img-src 'self'"
const PREVIEW_FRAME =
  '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Preview</title></head><body></body></html>'

/** Scripts, styles and fonts. Their names contain a hash, so browsers keep them for ever. */
function assetRoutes(app: App): void {
  app.get(PREVIEW_FRAME_PATH, (_request, reply) =>
    reply
      .headers({ 'content-type': 'text/html; charset=utf-8', 'content-security-policy': PREVIEW_CSP })
      .header('cache-control', 'no-cache')
      .send(PREVIEW_FRAME),
  )
  app.get(WIDGET_FRAME_PATH, (request, reply) => {
    const html = renderWidgetFrame(request.query as Record<string, unknown>)
    if (html === null) throw notFound('file')
    return reply
      .headers({ 'content-type': 'text/html; charset=utf-8', 'content-security-policy': WIDGET_CSP })
      .header('cache-control', 'no-cache')
      .send(html)
  })
  const documents = new Map<string, PreparedDocument>()
  app.get<{ Params: { name: string } }>('/assets/:name', (request, reply) => {
    const path = `/assets/${request.params.name}`
    const file = Object.hasOwn(ASSETS.files, path) ? ASSETS.files[path] : undefined
    if (!file) throw notFound('file')
    const { contentType, base64 } = file
    let document = documents.get(path)
    if (!document) {
      const body = Buffer.from(base64, 'base64')
      document = prepareDocument({ contentType, body, maxAgeSeconds: 'immutable' })
      documents.set(path, document)
    }
    return sendDocument(document, request, reply)
  })
}
