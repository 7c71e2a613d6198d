import { useState } from 'preact/hooks'
import { canWrite, useFrame } from '../../../../core/frame-context.ts'
import { call } from '../../../../core/operations.ts'
import { AsCall } from '../../../../parts/calls/as-call.tsx'
import { useAttempt } from '../../../../parts/forms/attempt.ts'
import type { FormErrors } from '../../../../parts/forms/field-errors.ts'
import { TextField } from '../../../../parts/forms/fields.tsx'
import { FormError } from '../../../../parts/forms/operation-form.tsx'
import type { PageDraft, PageRecord } from './page-form.ts'

const IMAGE_TYPES = 'image/png,image/jpeg,image/webp,image/svg+xml'
const NAMES = { logo: 'Logo', favicon: 'Favicon' }
const UPLOADS = { logo: 'updateStatusPageLogo', favicon: 'updateStatusPageFavicon' } as const

/** Uploads of an image that is not chosen yet. */
const IMAGE = new Blob([], { type: 'image/png' })
const IMAGE_CALLS = {
  logo: (id: string) => call('updateStatusPageLogo', { path: { id }, body: IMAGE }),
  favicon: (id: string) => call('updateStatusPageFavicon', { path: { id }, body: IMAGE }),
}

/** A logo or favicon: a file is stored at once; an address is a setting like the others. */
export function ImageField({
  kind,
  page,
  form,
  errors,
  change,
  onUpload,
}: {
  kind: 'logo' | 'favicon'
  page: PageRecord
  form: PageDraft
  errors: FormErrors
  change(part: Partial<PageDraft>): void
  onUpload(url: string | null): void
}) {
  const { me, execute, isInteractive } = useFrame()
  const attempt = useAttempt()
  const [stored, setStored] = useState<string | null>(null)
  const path = `${kind}_url` as const
  const problem = page[`${kind}_problem`]
  const upload = async (input: HTMLInputElement) => {
    const file = input.files?.[0]
    if (!file) return
    setStored(null)
    // the type of the file, instead of the first one that the operation accepts
    const sent = { path: { id: page.id }, body: file, headers: { 'Content-Type': file.type } }
    const outcome = await attempt.run(() => execute(UPLOADS[kind], sent))
    input.value = ''
    if (!outcome) return
    setStored(file.name)
    onUpload(outcome.data[path])
  }
  return (
    <div class="stack image-field">
      <TextField
        path={path}
        label={NAMES[kind]}
        type="url"
        placeholder="https://…"
        hint="An https address, which is fetched now and then daily; or a file: PNG, JPEG, WebP or SVG up to 1 MiB."
        value={form[path]}
        errors={errors}
        onChange={value => change({ [path]: value.trim() })}
      />
      {problem !== null && form[path] === page[path] && (
        <p class="wrong">
          The last fetch failed: it <bdi>{problem}</bdi>. {page[path] ? 'The previous image stays.' : ''}
        </p>
      )}
      {canWrite(me) && (
        <label class="button upload">
          Upload a {kind}
          <input
            type="file"
            class="hidden"
            accept={IMAGE_TYPES}
            disabled={attempt.isBusy || !isInteractive}
            onChange={event => void upload(event.currentTarget)}
          />
        </label>
      )}
      <FormError error={attempt.error} />
      {canWrite(me) && <AsCall call={IMAGE_CALLS[kind](page.id)} name={`for uploading a ${kind}`} />}
      {stored !== null && (
        <p role="status" class="soft small">
          <bdi>{stored}</bdi> is saved{page.is_published ? ', and visitors see it' : ''}.
        </p>
      )}
    </div>
  )
}
