import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { RenderedDocument } from '../../control-plane/foundation/web/html/document.tsx'
import type { PageView } from '../../control-plane/pages/core/types.ts'
import { renderPage } from '../../control-plane/pages/templates/document/render.ts'
import type { Teardown } from './teardown.ts'

export type PageSite = {
  origin: string
  /** serves a page at `/status/<slug>`; a second one with the same slug replaces it */
  show(view: PageView): string
  /** serves any document at a path */
  serve(page: RenderedDocument): string
  /** requested paths, oldest first */
  asked: string[]
}

const LOGO =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 40 40"><rect width="40" height="40" rx="10" fill="#5b3df5"/>' +
  '<path d="M12 28V12l16 16V12" fill="none" stroke="#fff" stroke-width="4" stroke-linejoin="round"/></svg>'

/**
 * Serves rendered pages with their policy and pictures from an origin of its own; everything else is 404. With `?bare`
 * the script is left out.
 */
export async function startPageSite(t: Teardown): Promise<PageSite> {
  const pages = new Map<string, RenderedDocument>()
  const asked: string[] = []
  const server = createServer((request, response) => {
    const [path = '', query] = (request.url ?? '').split('?')
    asked.push(path)
    const page = pages.get(path)
    if (page) {
      const { html, csp } = page
      response.setHeader('content-type', 'text/html; charset=utf-8')
      response.setHeader('content-security-policy', csp)
      response.end(query === 'bare' ? html.replace(/<script[^>]*>.*<\/script>/s, '') : html)
    } else if (/\/(logo|favicon)$/.test(path)) {
      response.setHeader('content-type', 'image/svg+xml')
      response.end(LOGO)
    } else {
      response.statusCode = 404
      response.end()
    }
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    origin,
    asked,
    serve(page) {
      pages.set('/document', page)
      return `${origin}/document`
    },
    show(view) {
      const path = `/status/${view.slug}`
      pages.set(path, renderPage({ ...view, publicUrl: `${origin}${path}` }))
      return `${origin}${path}`
    },
  }
}
