import { useState } from 'preact/hooks'
import { MONITOR_TYPES } from '../../../../../shared/checks/check.ts'
import { canWrite, useFrame } from '../../../core/frame-context.ts'
import { call, read } from '../../../core/operations.ts'
import { screen } from '../../../core/screen.ts'
import { NeedsScript } from '../../../parts/calls/as-call.tsx'
import { useAttempt, useFocusOnError } from '../../../parts/forms/attempt.ts'
import { toFormError } from '../../../parts/forms/field-errors.ts'
import { FormMessages } from '../../../parts/forms/form-messages.tsx'
import { useLeaveQuestion } from '../../../parts/forms/leave-question.ts'
import { Loaded } from '../../../parts/layout/states.tsx'
import { NeedsRole } from '../../../parts/needs-role.tsx'
import { BulkCreate } from './bulk-create.tsx'
import { listLiveRegions, type RegionRecord } from './fields/main-fields.tsx'
import { FormConsequences, MonitorFormFields, SHOWN_FIELDS, useTest } from './form-body.tsx'
import { findFormProblems, isSame, toCreateBody } from './state/monitor-body.ts'
import { hasMaskedSecrets, type MonitorForm, type MonitorRecord, toCopiedForm } from './state/monitor-form.ts'
import { applyProposals, toProposedForm } from './state/proposals.ts'

const EXAMPLE = call('createMonitor', { body: { name: 'Shop', type: 'http', url: 'https://shop.example.com/' } })

/** `/monitors/new`, also with `?url=`, `?type=` or `?copy=` (the id of a monitor). */
export const newMonitorScreen = screen({
  path: '/monitors/new',
  area: 'monitors',
  queries: ({ search }) => {
    const copied = search.get('copy')
    return {
      regions: read('listRegions', { query: { per_page: 100 } }),
      ...(copied && { copied: read('readMonitor', { path: { id: copied } }) }),
    }
  },
  title: () => 'New monitor',
  Body: ({ search, results }) => {
    const regions = results.regions.data?.data ?? null
    const { copied } = results
    return (
      <>
        <p class="trail">
          <a href="/monitors">Monitors</a>
        </p>
        <h1>New monitor</h1>
        <NeedsScript what="Creating a monitor" call={EXAMPLE} />
        {copied ? (
          <Loaded result={copied} what="The settings to copy">
            {({ data }) => <NewMonitor key={data.id} start={toCopiedForm(data)} copied={data} regions={regions} />}
          </Loaded>
        ) : (
          <NewMonitor
            key={search.toString()}
            start={toProposedForm(search, MONITOR_TYPES)}
            copied={null}
            regions={regions}
          />
        )}
      </>
    )
  },
})

function NewMonitor({
  start,
  copied,
  regions,
}: {
  start: MonitorForm
  copied: MonitorRecord | null
  regions: RegionRecord[] | null
}) {
  const { me, execute, navigate, isInteractive } = useFrame()
  const [form, setForm] = useState(start)
  const [lines, setLines] = useState<string[] | null>(null)
  const [createdId, setCreated] = useState<string | null>(null)
  const attempt = useAttempt()
  const element = useFocusOnError(attempt.error)
  const test = useTest(form, regions, attempt)
  useLeaveQuestion(createdId === null && lines === null && !isSame(form, start))
  if (!canWrite(me)) return <NeedsRole what="Creating a monitor" needed="editor" />
  const complete = applyProposals(form, listLiveRegions(regions))
  const change = (part: Partial<MonitorForm>) => setForm(current => ({ ...current, ...part }))
  if (lines) {
    return (
      <BulkCreate lines={lines} form={complete} regions={regions} change={change} onCancel={() => setLines(null)} />
    )
  }
  const submit = async (event: Event) => {
    event.preventDefault()
    const problem = toFormError(findFormProblems(form))
    if (problem) return attempt.setError(problem)
    const created = await attempt.run(() => execute('createMonitor', { body: toCreateBody(complete) }))
    if (!created) return
    setCreated(created.data.id)
    navigate(`/monitors/${created.data.id}`)
  }
  return (
    <form class="setup" ref={element} noValidate onSubmit={submit}>
      <fieldset class="plain stack" disabled={!isInteractive}>
        {copied && hasMaskedSecrets(copied) && (
          <p class="missing">Secrets are not copied, because they cannot be read. Type them again.</p>
        )}
        <MonitorFormFields
          {...{ form, change, regions, isNew: true, error: attempt.error, onLines: copied ? undefined : setLines }}
        />
        <FormMessages error={attempt.error} shown={SHOWN_FIELDS} />
        <div class="actions">
          <button type="submit" class="main" disabled={attempt.isBusy}>
            Create the monitor
          </button>
          {form.type !== 'heartbeat' && (
            <button type="button" disabled={test.isBusy} onClick={test.run}>
              Try it
            </button>
          )}
          {form.type !== 'heartbeat' && !copied && (
            <button type="button" onClick={() => setLines(form.url.trim() === '' ? [] : [form.url.trim()])}>
              Create several
            </button>
          )}
        </div>
      </fieldset>
      <FormConsequences form={complete} test={test} call={call('createMonitor', { body: toCreateBody(complete) })} />
    </form>
  )
}
