import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { ASSETS } from '../../control-plane/dashboard/assets.ts'
import { DASHBOARD_CSP } from '../../control-plane/dashboard/document.tsx'
import { answerFromState } from './dashboard-api.ts'
import type { DashboardScene } from './dashboard-scenes.ts'
import { renderScreen, type ScreenState } from './dashboard-screens.tsx'
import type { Teardown } from './teardown.ts'
import type { WallScene } from './wall-scenes.ts'

export type DashboardSite = {
  origin: string
  /** serves a screen from fixed data at a fixed time, and returns its address */
  show(scene: Pick<DashboardScene, 'address' | 'state'>): string
  /** the same with the scripts of the page, which get what they read and change from the state */
  showLive(scene: Pick<DashboardScene, 'address' | 'state'>): string
  /** serves a page that is rendered already, such as a wallboard, in the same way */
  showPage(scene: Pick<WallScene, 'address' | 'html'>): string
}

/**
 * Serves screens with their policy, styles and fonts, without scripts unless a scene needs them, so that nothing changes
 * them. The data and the time are those of the scene.
 */
export async function startDashboardSite(t: Teardown): Promise<DashboardSite> {
  if (!ASSETS.style) throw new Error('the assets are not built: run this test by npm test')
  let page = ''
  let live: ScreenState | null = null
  const find = (path: string) => {
    const file = ASSETS.files[path]
    if (!file) return null
    const body = Buffer.from(file.base64, 'base64')
    // a page may be painted before an optional font is there, and then stays without it
    const isStyle = path === ASSETS.style
    return { ...file, body: isStyle ? body.toString().replaceAll('font-display:optional', 'font-display:block') : body }
  }
  const server = createServer((request, response) => {
    const file = find(request.url!)
    if (file) return response.setHeader('content-type', file.contentType).end(file.body)
    if (live && answerFromState(request, response, live)) return response
    if (request.url === '/favicon.ico') return response.writeHead(204).end()
    return response
      .setHeader('content-type', 'text/html; charset=utf-8')
      .setHeader('content-security-policy', DASHBOARD_CSP)
      .end(page)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close().closeAllConnections())
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const showPage = ({ address, html }: Pick<WallScene, 'address' | 'html'>) => {
    page = html.replace(/<script type="module"[^>]*><\/script>/, '')
    live = null
    return origin + address
  }
  return {
    origin,
    show: ({ address, state }) => showPage({ address, html: renderScreen(address, state).page }),
    showLive({ address, state }) {
      page = renderScreen(address, state).page
      live = state
      return origin + address
    },
    showPage,
  }
}
