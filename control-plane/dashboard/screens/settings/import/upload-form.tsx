import { useState } from 'preact/hooks'
import { useFollowing } from '../../../browser/following.ts'
import { useFrame } from '../../../core/frame-context.ts'
import { call } from '../../../core/operations.ts'
import { AsCall } from '../../../parts/calls/as-call.tsx'
import { useAttempt } from '../../../parts/forms/attempt.ts'
import { buildFormErrors } from '../../../parts/forms/field-errors.ts'
import { CheckField, SelectField } from '../../../parts/forms/fields.tsx'
import { FormMessages } from '../../../parts/forms/form-messages.tsx'
import { useLeaveQuestion } from '../../../parts/forms/leave-question.ts'
import { type FileSource, formatBytes, guessSource, HEAD_BYTES, SOURCE_NAMES } from './file-kind.ts'

const SOURCES = Object.entries(SOURCE_NAMES) as [FileSource, string][]

type ChosenFile = { file: File; guess: FileSource | null }

/** A file is dropped or chosen, the person confirms what it is, and it is uploaded. Then its plan opens. */
export function UploadForm() {
  const { execute, isInteractive, navigate } = useFrame()
  const [chosen, choose] = useState<ChosenFile | null>(null)
  const [source, setSource] = useState<FileSource | ''>('')
  const [prune, setPrune] = useState(false)
  const [isUploaded, setUploaded] = useState(false)
  const { isBusy, error, run, setError } = useAttempt()
  useLeaveQuestion(chosen !== null && !isUploaded)
  const take = async (file: File | undefined) => {
    if (!file || isBusy) return
    setError(null)
    // a byte is a character, because databases are not UTF-8
    const guess = guessSource(new TextDecoder('latin1').decode(await file.slice(0, HEAD_BYTES).arrayBuffer()))
    choose({ file, guess })
    setSource(guess ?? '')
  }
  const submit = async (event: Event) => {
    event.preventDefault()
    if (chosen === null || source === '') return
    const created = await run(() => execute('createImport', toArguments(chosen.file, source, prune)))
    if (!created) return
    setUploaded(true)
    navigate(`/settings/import/${created.data.id}?wait=1`)
  }
  const errors = buildFormErrors(error?.details ?? [])
  return (
    <form class="import-form scripted" onSubmit={submit}>
      <fieldset class="plain stack" disabled={!isInteractive || isBusy}>
        <DropPlace onFile={file => void take(file)} chosen={chosen} />
        {chosen && (
          <>
            <SelectField
              path="from"
              label="What is it?"
              errors={errors}
              value={source}
              options={[...(source === '' ? [['', 'Choose'] as [string, string]] : []), ...SOURCES]}
              onChange={value => setSource(value as FileSource)}
              hint={
                chosen.guess === null
                  ? 'The beginning of the file is not that of a known format.'
                  : 'This is what the beginning of the file looks like.'
              }
            />
            <CheckField
              path="prune"
              label="Delete records that are not in the file"
              hint="In the sections that the file has. The plan shows them before anything is deleted."
              errors={errors}
              value={prune}
              onChange={setPrune}
            />
          </>
        )}
        <FormMessages error={error} shown={['from', 'prune']} />
        {chosen && (
          <div class="actions">
            <button type="submit" class="main" disabled={source === ''}>
              Upload and make a plan
            </button>
            <span class="soft small">Nothing is changed before you apply the plan.</span>
          </div>
        )}
      </fieldset>
      {chosen && source !== '' && <AsCall call={call('createImport', toArguments(chosen.file, source, prune))} />}
      {isBusy && chosen && <UploadProgress bytes={chosen.file.size} />}
    </form>
  )
}

const toArguments = (file: File, from: FileSource, prune: boolean) => ({
  query: { from, prune, file_name: file.name.slice(0, 255) || undefined },
  body: file,
})

function DropPlace({ onFile, chosen }: { onFile(file: File | undefined): void; chosen: ChosenFile | null }) {
  const { isInteractive } = useFrame()
  const [isOver, setOver] = useState(false)
  const stop = (event: DragEvent) => {
    event.preventDefault()
    setOver(event.type === 'dragover')
  }
  return (
    <label
      class={isOver ? 'drop over' : 'drop'}
      onDragOver={stop}
      onDragLeave={stop}
      onDrop={event => {
        stop(event)
        onFile(event.dataTransfer?.files[0])
      }}
    >
      <span class="drop-title" dir="auto">
        {chosen ? chosen.file.name : 'Drop a file here, or choose one'}
      </span>
      <span class="soft small">
        {chosen
          ? `${formatBytes(chosen.file.size)}. Choose another file`
          : 'kuma.db, up to 256 MiB, or a backup of Uptime Kuma, a configuration of Gatus or an exported project, up to 32 MiB'}
      </span>
      <input
        type="file"
        class="hidden"
        disabled={!isInteractive}
        onChange={event => onFile(event.currentTarget.files?.[0])}
      />
    </label>
  )
}

/** How much the server has received. */
function UploadProgress({ bytes }: { bytes: number }) {
  const { execute } = useFrame()
  const [received, setReceived] = useState(0)
  useFollowing('uploading', async () => {
    const outcome = await execute('listImports', { query: { per_page: 1 } })
    const job = 'data' in outcome ? outcome.data.data[0] : undefined
    if (job?.status === 'uploading') setReceived(job.bytes)
  })
  return (
    <div class="import-progress" role="status">
      <progress max={Math.max(1, bytes)} value={received} aria-label="Uploaded" />
      <span class="soft">
        {formatBytes(received)} of {formatBytes(bytes)} uploaded
      </span>
    </div>
  )
}
