import { dump } from 'js-yaml'
import { useEffect, useState } from 'preact/hooks'
import { toCurl } from '../../core/api-call/curl.ts'
import { buildSection, type ProjectEntry, toProjectEntry } from '../../core/api-call/project-entry.ts'
import { toTypeScript } from '../../core/api-call/typescript.ts'
import { useFrame } from '../../core/frame-context.ts'
import type { Execute } from '../../core/operations.ts'
import type { Queries } from '../../core/screen.ts'
import { CopyButton } from '../copy-button.tsx'
import { Scroll } from '../layout/section.tsx'

const FORMS = ['curl', 'TypeScript', 'project.yaml'] as const
type Form = (typeof FORMS)[number]

/** Calls of the API as texts to copy. `entry`: of the project file; without it, that of the only call. */
export function CallTexts({ calls, entry }: { calls: Queries; entry?: ProjectEntry | null }) {
  const [form, setForm] = useState<Form>('curl')
  const inFile = entry === undefined ? toProjectEntry(Object.values(calls)[0]!) : entry
  return (
    <div class="call-texts">
      <div class="choices" role="radiogroup" aria-label="Show as">
        {FORMS.map(name => (
          <label key={name} class="choice">
            <input type="radio" checked={form === name} onChange={() => setForm(name)} />
            <span>{name}</span>
          </label>
        ))}
      </div>
      {form === 'curl' && <Text text={toCurl(Object.values(calls))} what="the commands" />}
      {form === 'TypeScript' && <Text text={toTypeScript(calls)} what="the program" />}
      {form === 'project.yaml' && (inFile ? <EntryText entry={inFile} /> : <NotInFile />)}
    </div>
  )
}

/** What the file has to say for the same. */
const EntryText = ({ entry }: { entry: ProjectEntry }) =>
  entry.isDeletion ? <LeftOut section={entry.section} /> : <FileEntry entry={entry} />

const Text = ({ text, what }: { text: string; what: string }) => (
  <>
    <Scroll name={what}>
      <pre dir="ltr">{text}</pre>
    </Scroll>
    <div class="actions">
      <CopyButton key={text} text={text} what={what} />
    </div>
  </>
)

const NotInFile = () => <p class="soft">A project file does not contain these records.</p>

/** Deleting a record with a file: an entry that is not there. */
const LeftOut = ({ section }: Pick<ProjectEntry, 'section'>) => (
  <p>
    Remove the entry from the section <code>{section}</code> of the whole file, and apply it with <code>--prune</code>.
    This deletes the records of the section that the file does not name.
  </p>
)

/** The entry in the file: of a new record as the form sends it, of a stored record with the changes of the form. */
function FileEntry({ entry }: { entry: ProjectEntry }) {
  const { execute } = useFrame()
  const { section, id, body } = entry
  const isStored = id !== null || section === 'alert_settings'
  const [answer, setAnswer] = useState<{ stored: object } | { message: string } | null>(null)
  useEffect(() => {
    if (!isStored) return undefined
    let isCurrent = true
    setAnswer(null)
    readStored(execute, entry).then(read => isCurrent && setAnswer(read))
    return () => {
      isCurrent = false
    }
  }, [section, id])
  if (!isStored && !body)
    return (
      <p>
        The command <code>picket export</code> writes these records to the section <code>{section}</code> of the file.
      </p>
    )
  if (isStored && !answer) return <p class="soft">Reading the saved entry …</p>
  if (answer && 'message' in answer) return <p class="missing">The saved entry cannot be read: {answer.message}.</p>
  const text = dump(buildSection(entry, answer?.stored ?? null), { lineWidth: 100, noRefs: true })
  return <Text text={text} what="the entry" />
}

/** The stored fields of a record with the names of the file. Secrets are masked. */
async function readStored(
  execute: Execute,
  { section, id }: ProjectEntry,
): Promise<{ stored: object } | { message: string }> {
  const query = { format: 'json' as const, ...(id !== null && { id }) }
  const outcome = await execute('exportProject', { query })
  if ('error' in outcome) return outcome.error
  const records = outcome.data[section]
  const stored = Array.isArray(records) ? records[0] : records
  return { stored: stored ?? {} }
}
