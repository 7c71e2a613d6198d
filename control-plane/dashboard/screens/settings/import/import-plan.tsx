import { useEffect, useState } from 'preact/hooks'
import { useFollowing } from '../../../browser/following.ts'
import { parsePage } from '../../../core/address.ts'
import { useFrame } from '../../../core/frame-context.ts'
import { type OperationResponse, read } from '../../../core/operations.ts'
import { type Result, screen } from '../../../core/screen.ts'
import { Loaded } from '../../../parts/layout/states.tsx'
import {
  describeProgress,
  describeStatus,
  formatBytes,
  type ImportEntry,
  type ImportJob,
  isRunning,
  SOURCE_NAMES,
} from './file-kind.ts'
import { ItemList } from './item-list.tsx'
import { NextSteps } from './next-steps.tsx'

const PATH = '/settings/import/:id'

/** `/settings/import/:id`: the progress of an import, its plan as a difference, and its result. */
export const importPlanScreen = screen({
  path: PATH,
  area: 'settings',
  queries: ({ params, search }) => ({
    job: read('readImport', { path: { id: params.id! } }),
    items: read('listImportItems', {
      path: { id: params.id! },
      query: {
        // while the import is running its entries are not shown; after it another argument reads them again
        ...(search.has('wait') ? { per_page: 1 } : { per_page: 50, page: parsePage(search) }),
        ...(search.get('action') && { action: search.get('action') as ImportEntry['action'] }),
        ...(search.get('has_warnings') && { has_warnings: true }),
        ...(search.get('q') && { q: search.get('q')! }),
      },
    }),
  }),
  record: 'job',
  title: ({ results: { job } }) => job.data?.data.file_name ?? 'Import',
  Body: ({ results: { job, items }, params, search }) => (
    <>
      <p class="trail">
        <a href="/settings/import">Import and export</a>
      </p>
      <Loaded result={job} what="The import">
        {({ data }) => <Import key={params.id} stored={data} items={items} search={search} />}
      </Loaded>
    </>
  ),
})

function Import({
  stored,
  items,
  search,
}: {
  stored: ImportJob
  items: Result<OperationResponse<'listImportItems'>>
  search: URLSearchParams
}) {
  const { execute, navigate } = useFrame()
  const [followed, setFollowed] = useState<ImportJob | null>(null)
  const job = followed && followed.updated_at >= stored.updated_at ? followed : stored
  const path = `/settings/import/${job.id}`
  const isBusy = isRunning(job)
  const isWaiting = search.has('wait')
  useEffect(() => {
    if (isBusy !== isWaiting) navigate(isBusy ? `${path}?wait=1` : path, true)
  }, [isBusy, isWaiting])
  useFollowing(isBusy ? job.status : null, async () => {
    const outcome = await execute('readImport', { path: { id: job.id } })
    if ('data' in outcome) setFollowed(outcome.data.data)
  })
  return (
    <>
      <h1 dir="auto">{job.file_name ?? 'File without a name'}</h1>
      <p class="sentence" role="status">
        <span class={job.status === 'failed' ? 'down' : undefined}>{describeStatus(job)}</span>{' '}
        <span class="soft">
          {SOURCE_NAMES[job.from].split(':')[0]}, {formatBytes(job.bytes)}
          {job.prune && ', deletes what the file does not name'}
        </span>
      </p>
      {isBusy && <Progress job={job} />}
      {job.error && <Problems error={job.error} />}
      <NextSteps key={job.status} job={job} />
      {job.summary && !isBusy && !isWaiting && (
        <ItemList job={job} summary={job.summary} items={items} search={search} />
      )}
    </>
  )
}

function Progress({ job }: { job: ImportJob }) {
  const { progress, status } = job
  // the steps of an earlier run are still there while the file is read
  const steps = status === 'reading' || status === 'uploading' ? null : describeProgress(job)
  return (
    <div class="import-progress">
      {steps ? (
        <progress max={progress.total} value={progress.done} aria-label="Progress" />
      ) : (
        <progress aria-label="Progress" />
      )}
      <span class="soft">{steps && `${steps}. `}You can leave this page. The work continues.</span>
    </div>
  )
}

const MAX_SHOWN = 50

/** Why an import failed, with the place of each fault in the file. */
const Problems = ({ error }: { error: NonNullable<ImportJob['error']> }) => (
  <div class="banner trouble" role="alert">
    {error.details && error.details.length > 1 ? (
      <ul>
        {error.details.slice(0, MAX_SHOWN).map(({ path, message }) => (
          <li key={path + message} dir="auto">
            {message}
          </li>
        ))}
      </ul>
    ) : (
      <p dir="auto">{error.message}.</p>
    )}
  </div>
)
