import type { App } from '../web/app.ts'
import type { FindPage } from './page-reader.ts'
import { addCustomHosts } from './site-routes.ts'

export type PublicPageContext = {
  find: FindPage
  /** hosts of this installation, which are nobody's custom domain */
  ownHosts: readonly string[]
}

/** What visitors of published pages get, at `{origin}/status/{slug}` and at the root of custom domains (decisions 7.2). */
export function publicPageRoutes(app: App, context: PublicPageContext): void {
  addCustomHosts(app, context)
}
