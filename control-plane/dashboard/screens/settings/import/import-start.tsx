import { formatCount } from '../../../core/format.ts'
import { canWrite, useFrame } from '../../../core/frame-context.ts'
import { type OperationResponse, read } from '../../../core/operations.ts'
import { screen } from '../../../core/screen.ts'
import { AreaTabs } from '../../../parts/layout/area-tabs.tsx'
import { Section } from '../../../parts/layout/section.tsx'
import { Empty, Loaded } from '../../../parts/layout/states.tsx'
import { Ago } from '../../../parts/moment.tsx'
import { NeedsRole } from '../../../parts/needs-role.tsx'
import { countChanges, describeProgress, describeStatus, type ImportJob, isRunning } from './file-kind.ts'
import { UploadForm } from './upload-form.tsx'

const PATH = '/settings/import'

/** `/settings/import`: a file is chosen and uploaded; earlier imports; the export of the project. */
export const importStartScreen = screen({
  path: PATH,
  area: 'settings',
  queries: () => ({ imports: read('listImports', { query: { per_page: 10 } }) }),
  title: () => 'Import and export',
  Body: ({ results: { imports } }) => {
    const { me } = useFrame()
    return (
      <>
        <h1>Import and export</h1>
        <AreaTabs area="settings" current={PATH} />
        <Section id="import" title="Import a file">
          {canWrite(me) ? <UploadForm /> : <NeedsRole what="Importing" needed="editor" />}
        </Section>
        <Section id="imports" title="Imports of the last day">
          <Loaded result={imports} what="The imports">
            {list => <Imports list={list} />}
          </Loaded>
        </Section>
        <ExportSection />
      </>
    )
  },
})

const Imports = ({ list: { data } }: { list: OperationResponse<'listImports'> }) =>
  data.length === 0 ? (
    <Empty text="No file was imported in the last day." />
  ) : (
    <ul class="list">
      {data.map(job => (
        <li key={job.id}>
          <a href={`${PATH}/${job.id}`} dir="auto">
            {job.file_name ?? 'File without a name'}
          </a>{' '}
          <span class={job.status === 'failed' ? 'down' : 'soft'}>
            {describeStatus(job)}
            {describeChanges(job)}
          </span>{' '}
          <span class="soft small">
            <Ago at={job.created_at} />
          </span>
        </li>
      ))}
    </ul>
  )

function describeChanges(job: ImportJob): string {
  const progress = isRunning(job) ? describeProgress(job) : null
  if (progress !== null) return `, ${progress}`
  return job.summary === null || job.status === 'failed' || isRunning(job)
    ? ''
    : `, ${formatCount(countChanges(job), 'change')}`
}

/** The whole configuration as a file, which an import accepts. */
const ExportSection = () => (
  <Section id="export" title="Export this project">
    <p class="soft">
      Monitors, channels, rules, windows, data sources, dependencies and status pages as one file. Secrets are masked:
      an import of the file keeps those that are saved.
    </p>
    <div class="actions top">
      <a class="button" href="/session/api/v1/export" download="picket.yaml">
        Download as YAML
      </a>
      <a class="button" href="/session/api/v1/export?format=json" download="picket.json">
        Download as JSON
      </a>
    </div>
  </Section>
)
