import type { PageView } from '../types.ts'
import { TEMPLATES } from './index.ts'
import type { Page } from './page.ts'
import { SignSheet } from './parts/signs.tsx'

/** The body, with the root below which a customer's own CSS applies (`.page`). */
export function Body({ view }: { view: PageView }) {
  const { Layout, voice } = TEMPLATES[view.template]
  const page: Page = { view, voice: voice(view.name) }
  return (
    <body>
      <div class={`page ${view.template}`}>
        <SignSheet />
        <Layout {...page} />
      </div>
    </body>
  )
}
