import type { PageView } from '../../core/types.ts'
import { TEMPLATES } from '../designs/index.ts'
import { IconSheet } from '../parts/status-icons.tsx'
import type { TemplatePage } from '../template.ts'

/** The root element (`.page`), below which a customer's CSS applies. */
export function PageRoot({ view }: { view: PageView }) {
  const { Layout, voice } = TEMPLATES[view.template]
  const page: TemplatePage = { view, voice: voice(view.name) }
  return (
    <div class={`page ${view.template}`}>
      <IconSheet />
      <Layout {...page} />
    </div>
  )
}

export const Body = ({ view }: { view: PageView }) => (
  <body>
    <PageRoot view={view} />
  </body>
)
