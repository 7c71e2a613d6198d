import { canWrite, useFrame } from '../../../core/frame-context.ts'
import { call } from '../../../core/operations.ts'
import { screen } from '../../../core/screen.ts'
import { NeedsScript } from '../../../parts/calls/as-call.tsx'
import { NeedsRole } from '../../../parts/needs-role.tsx'
import { SourceEditor } from './form/editor.tsx'

const EXAMPLE = call('createDataSource', {
  body: {
    name: 'Platform',
    url: 'https://status.example.com/health.json',
    fields: [
      { path: 'services.*.status', name_template: '{{key}}', rule_type: 'equals', rule_config: { value: 'ok' } },
    ],
  },
})

/** `/sources/new` */
export const newSourceScreen = screen({
  path: '/sources/new',
  area: 'monitors',
  queries: () => ({}),
  title: () => 'New data source',
  Body: () => {
    const { me } = useFrame()
    return (
      <>
        <p class="trail">
          <a href="/sources">Data sources</a>
        </p>
        <h1>New data source</h1>
        <p class="soft">A JSON document whose values become monitors.</p>
        <NeedsScript what="Creating a data source" call={EXAMPLE} />
        {canWrite(me) ? <SourceEditor source={null} /> : <NeedsRole what="Creating a data source" needed="editor" />}
      </>
    )
  },
})
